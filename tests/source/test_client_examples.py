"""The client's own TypeScript examples lint clean; with one number, name or schedule broken, they give exactly that finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsplugin_cli.lint.judging import Setting, judge

EXAMPLES = Path(__file__).parents[2] / "fixtures" / "seeds"


def found(source: str, name: str) -> list[str]:
    judged = judge(source.encode(), name, Setting(timezone="Asia/Ho_Chi_Minh"), None)
    places = [(problem, problem.span) for problem in judged.problems]
    return [f"{problem.code} {span and (span.line, span.column, span.end_column)}" for problem, span in places]


@pytest.mark.parametrize("name", ["nextskin.ts", "cogover.ts"])
def test_as_the_client_wrote_them_they_are_clean(name: str) -> None:
    assert found((EXAMPLES / name).read_text(encoding="utf-8"), name) == []


BROKEN = [
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: 0", "NSP104", "0"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: 21", "NSP104", "21"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: 5.5", "NSP007", "5.5"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: '5'", "NSP007", "'5'"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: true", "NSP007", "true"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempts: null", "NSP007", "null"),
    ("nextskin.ts", "maxAttempts: 5", "maxAttempt: 5", "NSP006", "maxAttempt"),
    ("nextskin.ts", "timeoutMs: 60_000", "timeoutMs: 600_001", "NSP105", "600_001"),
    ("nextskin.ts", "timeoutMs: 60_000", "timeoutMs: 0", "NSP105", "0"),
    ("nextskin.ts", "    expire: {", "    '1expire': {", "NSP101", "'1expire'"),
    ("nextskin.ts", "    expire: {", f"    {'e' * 65}: {{ handler() {{}} }},\n    expire: {{", "NSP102", "e" * 65),
    ("nextskin.ts", "routes: {", "routes: {\n    'GET /x': { auth: 'user', handler: 5 },", "NSP106", ""),
    ("nextskin.ts", "schedule: '0 3 * * *'", "schedule: '0 24 * * *'", "NSP203", "24"),
    ("nextskin.ts", "schedule: '0 3 * * *'", "schedule: '0 0 3 * * *'", "NSP201", "0 0 3 * * *"),
    ("nextskin.ts", "schedule: '0 3 * * *'", "schedule: '0 3 * * MON'", "NSP202", "MON"),
    ("nextskin.ts", "schedule: '0 3 * * *'", "schedule: '0 3 30 2 *'", "NSP207", "'0 3 30 2 *'"),
    ("nextskin.ts", "job: 'expire'", "job: 'expires'", "NSP204", "'expires'"),
    ("nextskin.ts", "payload: { key: 'daily-cache' }", "timezone: 'UTC'", "NSP006", "timezone"),
    ("nextskin.ts", "enqueue('expire'", "enqueue('expired'", "NSP304", "'expired'"),
    ("nextskin.ts", "delaySec: 60", "delaySec: 2_592_001", "NSP305", "2_592_001"),
    ("nextskin.ts", "delaySec: 60", "delaySec: -1", "NSP305", "-1"),
    ("nextskin.ts", "dedupeKey: parsed.data.key", "dedupeKey: ' key'", "NSP306", "' key'"),
    ("nextskin.ts", "capabilities: ['storage.kv']", "capabilities: []", "NSP501", "ctx.kv"),
    ("nextskin.ts", "'POST /expire'", "'POST expire'", "NSP503", "'POST expire'"),
    ("nextskin.ts", "auth: 'user'", "auth: 'nobody'", "NSP503", "'nobody'"),
    ("nextskin.ts", "export default", "setInterval(() => {}, 1000)\nexport default", "NSP401", "setInterval(() => {}, 1000)"),
    ("cogover.ts", 'key: "recalc_totals"', 'key: "1recalc_totals"', "NSP101", '"1recalc_totals"'),
    ("cogover.ts", 'key: "cancel_stale_orders"', 'key: "Recalc_totals"', "NSP107", '"Recalc_totals"'),
    ("cogover.ts", "timeoutMs: 60_000", "timeoutMs: 999", "NSP105", "999"),
    ("cogover.ts", "timeoutMs: 60_000", "timeoutMs: 60_001", "NSP105", "60_001"),
    ("cogover.ts", 'name: "Recalculate order totals"', f'name: "{"x" * 251}"', "NSP109", f'"{"x" * 251}"'),
    ("cogover.ts", 'cron: "0 2 * * *"', 'cron: "@daily"', "NSP202", "@daily"),
    ("cogover.ts", 'cron: "0 2 * * *"', 'cron: "60 2 * * *"', "NSP203", "60"),
    ("cogover.ts", 'timezone: "Asia/Ho_Chi_Minh"', 'timezone: "Asia/Saigonn"', "NSP206", '"Asia/Saigonn"'),
    ("cogover.ts", 'timezone: "Asia/Ho_Chi_Minh"', 'timezon: "Asia/Ho_Chi_Minh"', "NSP006", "timezon"),
    ("cogover.ts", 'enqueue("recalc_totals"', 'enqueue("recalc_total"', "NSP304", '"recalc_total"'),
    (
        "cogover.ts",
        "{ cursor: page.nextCursor });",
        "{ cursor: page.nextCursor }, { delayMs: 2_592_000_001 });",
        "NSP305",
        "2_592_000_001",
    ),
    (
        "cogover.ts",
        "{ cursor: page.nextCursor });",
        "{ cursor: page.nextCursor }, { idempotencyKey: '-x' });",
        "NSP306",
        "'-x'",
    ),
    (
        "cogover.ts",
        "{ cursor: page.nextCursor });",
        "{ cursor: page.nextCursor }, { delayMs: 1, runAt: 2 });",
        "NSP307",
        "2",
    ),
]


@pytest.mark.parametrize(("name", "before", "after", "code", "at"), BROKEN)
def test_one_thing_broken_is_one_finding_at_its_place(name: str, before: str, after: str, code: str, at: str) -> None:
    source = (EXAMPLES / name).read_text(encoding="utf-8")
    assert source.count(before) >= 1
    broken = source.replace(before, after, 1)
    (only,) = found(broken, name)
    assert only.startswith(code)
    if at:
        line = next(
            number for number, text in enumerate(broken.split("\n"), 1) if at in text and after.split("\n")[0] in broken
        )
        text = broken.split("\n")[int(only.split("(")[1].split(",")[0]) - 1]
        column, end = (int(part.strip(" )")) for part in only.split(",")[1:])
        assert (text[column - 1 : end - 1], line > 0) == (at, True)
