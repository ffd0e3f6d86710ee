"""``nsplugin diff``: what an upgrade means for a host (spec/cli.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nsplugin_cli.app import run

GOOD = Path(__file__).parents[2] / "fixtures" / "good" / "cache-expiry" / "manifest.json"
NOW = ("--now", "2026-03-06T12:00Z", "--timezone", "America/New_York")


def edited(folder: Path, **changes: Any) -> Path:
    manifest = json.loads(GOOD.read_text(encoding="utf-8"))
    manifest.update(changes)
    path = folder / "new.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return path


def diff(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(["diff", *arguments])
    return code, capsys.readouterr().out


def test_breaking_changes_come_first_and_next_fires_are_computed_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = edited(
        tmp_path,
        version="2.0.0",
        capabilities=["storage.kv", "net.fetch"],
        jobs={"expire": {"maxAttempts": 4, "timeoutMs": 60000}},
        cron=[{"schedule": "30 2 * * *", "job": "expire", "payload": {"key": "daily-cache"}}],
    )
    code, text = diff(capsys, str(GOOD), str(new), *NOW)
    assert code == 0
    assert text == (
        "cache-expiry 1.0.0 → cache-expiry 2.0.0 (NextSkin)\n"
        "\n"
        "breaking attempts-lowered /jobs/expire/maxAttempts\n"
        '  maxAttempts of "expire" went from 5 to 4: a task that has failed as often is a dead letter at its next failure\n'
        "\n"
        "notable capability-added /capabilities/1\n"
        '  asks for the capability "net.fetch", which it did not have\n'
        "\n"
        "notable schedule-changed /cron/0/schedule\n"
        '  "expire" runs at "30 2 * * *" instead of "0 3 * * *"; the next fire is computed anew\n'
        "    next fire before  2026-03-07 03:00 EST  2026-03-07T08:00:00Z\n"
        "    next fire now     2026-03-07 02:30 EST  2026-03-07T07:30:00Z\n"
        "\n"
        "harmless payload-widened /jobs/expire/payloadSchema\n"
        '  the payload schema of "expire" takes all it took before\n'
        "\n"
        "harmless version-changed /version\n"
        '  version "1.0.0" became "2.0.0"\n'
        "\n"
        "5 changes: 1 breaking, 2 notable, 2 harmless.\n"
    )
    assert diff(capsys, str(GOOD), str(new), "--strict")[0] == 1


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = edited(tmp_path, cron=[])
    code, text = diff(capsys, str(GOOD), str(new), *NOW, "--format", "json", "--strict")
    assert code == 0
    value = json.loads(text)
    assert value["summary"] == {"breaking": 0, "notable": 1, "harmless": 0}
    assert value["changes"] == [
        {
            "kind": "schedule-removed",
            "level": "notable",
            "pointer": "/cron/0",
            "message": '"expire" no longer runs at "0 3 * * *"',
            "hint": None,
            "before": {"expression": "0 3 * * *", "timezone": "America/New_York", "nextFire": "2026-03-07T08:00:00Z"},
            "after": None,
        }
    ]


def test_equal_manifests(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(capsys, str(GOOD), str(GOOD), "--strict") == (
        0,
        "cache-expiry 1.0.0 → cache-expiry 1.0.0 (NextSkin)\n\nNo changes.\n",
    )


def test_another_platform_is_another_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    other = GOOD.parents[1] / "recalc-totals" / "manifest.json"
    assert diff(capsys, str(GOOD), str(other), "--strict") == (
        1,
        """\
cache-expiry 1.0.0 → recalc-totals (Cogover)

breaking platform-changed /platform
  the plugin went from NextSkin to Cogover: to a host it is another plugin

1 change: 1 breaking, 0 notable, 0 harmless.
""",
    )


def test_a_faulty_manifest_is_reported_and_nothing_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = edited(tmp_path, cron=[{"schedule": "0 25 * * *", "job": "expire", "payload": None}], jobs={"expire": {}})
    code, text = diff(capsys, str(GOOD), str(new), "--format", "json")
    assert (code, [found["code"] for found in json.loads(text)["diagnostics"]]) == (1, ["NSP203"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "-"), "standard input can be one of the two manifests, not both"),
        ((str(GOOD), "nowhere.json"), "cannot read nowhere.json: No such file or directory"),
        ((str(GOOD), str(GOOD), "--timezone", "Berlin"), "--timezone"),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *arguments]) == 2
    assert said in capsys.readouterr().err
