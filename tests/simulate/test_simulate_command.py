"""``nsplugin simulate``: what it prints, how it is told what to simulate, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fixture_runs

SOURCE = """\
from nsplugin import define_plugin


async def sync(ctx, attempt):
    await ctx.sleep(20)
    if attempt == 1:
        raise RuntimeError("the shop is \\x1b[31mdown")


plugin = define_plugin({
    "id": "stock",
    "jobs": {"sync": {"maxAttempts": 2, "handler": sync}},
    "cron": [{"schedule": "30 2 * * *", "job": "sync"}],
})
"""
CALL = ["simulate", "--from", "2026-03-07", "--to", "2026-03-09", "--timezone", "America/New_York"]
TEXT = """\
Saturday 2026-03-07  America/New_York
  02:30:00     EST   sync #1  fires; attempt 1 starts
  02:30:20         ! sync #1  attempt 1 fails after 20 s: the shop is \\x1b[31mdown; next attempt in 10.6 s, at 02:30:30.550
  02:30:30.550       sync #1  attempt 2 starts
  02:30:50.550       sync #1  attempt 2 succeeds after 20 s

Sunday 2026-03-08  America/New_York
  03:00:00     EDT · sync     on 2026-03-08 the clock goes from 02:00 EST (UTC-05:00) to 03:00 EDT (UTC-04:00): \
02:30 does not exist and runs at 03:00
  03:00:00           sync #2  fires; attempt 1 starts
  03:00:20         ! sync #2  attempt 1 fails after 20 s: the shop is \\x1b[31mdown; next attempt in 9.6 s, at 03:00:29.631
  03:00:29.631       sync #2  attempt 2 starts
  03:00:49.631       sync #2  attempt 2 succeeds after 20 s

2 fires, 0 made up, 0 skipped; clock changes deferred 1 and dropped 0.
4 attempts: 2 succeeded, 2 failed.
2 waits before another attempt: 10.6 s the longest, 20.2 s in all.
0 dead letters.
"""


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)


def _json(*arguments: str) -> dict[str, Any]:
    code, out, err = fixture_runs.call([*CALL, *arguments, "--format", "json"])
    assert (code, err) == (0, "")
    report: dict[str, Any] = json.loads(out)
    return report


def test_the_timeline_for_a_person() -> None:
    assert fixture_runs.call(CALL) == (0, TEXT, "")


def test_json_has_exactly_the_published_shape() -> None:
    """spec/core.md Commands."""
    report = _json("--down", "2026-03-07T02:30:10/2026-03-07T03:00", "--host-exit", "sync=1")
    assert set(report) == {"events", "summary"}
    assert report["summary"] == {
        "fires": 2, "catchUps": 0, "skips": 0, "deferred": 1, "dropped": 0, "attempts": 6, "succeeded": 2, "retries": 2,
        "deadLetters": 0,
    }  # fmt: skip
    events = report["events"]
    assert events[0].keys() == {"at", "type", "plugin", "job", "task", "attempt"}
    assert events[0] | {"task": ""} == {
        "at": "2026-03-07T07:30:00.000Z", "type": "fire", "plugin": "stock", "job": "sync", "task": "", "attempt": 0,
    }  # fmt: skip
    known = {"fire", "skip", "catch-up", "enqueue", "attempt", "success", "failure", "timeout", "retry", "deferral", "dead"}
    assert {event["type"] for event in events} <= known


def test_every_option_is_understood() -> None:
    report = _json(
        "--no-handlers", "--takes", "sync=5 min", "--fail", "sync=50%", "--timeout", "stock/sync=1", "--seed", "3",
        "--down", "23:00-01:00", "--host-exit", "02:31", "--zone-change", "2026-03-08T12:00=Asia/Tokyo",
        "--enqueue", "sync", "--enqueue", 'sync@+90min={"a": 1}', "--enqueue", "sync@2026-03-07T04:00",
        "--enqueue", "sync@05:00",
    )  # fmt: skip
    enqueued = [event["at"] for event in report["events"] if event["type"] == "enqueue"]
    assert enqueued == [f"2026-03-07T{time}:00.000Z" for time in ("05:00", "06:30", "09:00", "10:00")] + [
        "2026-03-08T09:00:00.000Z"
    ]


def test_assertions_are_for_ci() -> None:
    assert fixture_runs.call([*CALL, "--assert", "dead=0", "--assert", "fires>=2", "--assert", "catchUps<1"])[::2] == (0, "")
    code, out, err = fixture_runs.call([*CALL, "--assert", "retries<=1", "--assert", "longest-wait-ms < 10000"])
    assert (code, out) == (1, TEXT)
    assert err.splitlines() == [
        "Error: --assert retries<=1 does not hold: retries is 2",
        "Error: --assert longest-wait-ms < 10000 does not hold: longest wait ms is 10,550",
    ]


def test_a_long_timeline_counts_what_went_well() -> None:
    days = ["--no-handlers", "--to", "2026-06-07", "--fail", "sync=20%"]
    brief, whole = fixture_runs.call([*CALL, *days])[1], fixture_runs.call([*CALL, *days, "--all"])[1]
    assert "  1 × sync ran and succeeded at its first attempt\n" in brief
    assert brief.count("fires; attempt 1 succeeds") == 0 < whole.count("fires; attempt 1 succeeds")
    assert brief.count("fails") == whole.count("fails") > 0


NO_TIME = "is no time; write 2026-03-08, 2026-03-08T02:30 or 2026-03-08T07:00Z"
NO_HITS = "is neither a number of attempts (2) nor a chance (30%)"
REFUSALS = [
    (["--fail", "synk=2"], "--fail: there is no job 'synk'; did you mean 'sync'?"),
    (["--fail", "sync"], "--fail: 'sync' is not understood; write JOB=2 or JOB=30%"),
    (["--fail", "sync=x"], f"--fail: 'sync=x': 'x' {NO_HITS}"),
    (["--timeout", "sync=101%"], f"--timeout: 'sync=101%': '101%' {NO_HITS}"),
    (["--takes", "sync=5"], "--takes: '5' is no duration; write a number and ms, s, min, h or d, such as 30s"),
    (["--down", "02:00"], "--down: '02:00' is no span; write 02:00-05:00 for every day, or two times: "),
    (["--down", "2026-03-08/2026-03-07"], "--down: '2026-03-08/2026-03-07' ends before it begins"),
    (["--host-exit", "sync=soon"], f"--host-exit: 'soon' {NO_TIME}, or 02:30 for every day, or +2h after the start"),
    (["--zone-change", "2026-03-08=Asia/Tokio"], '--zone-change: "Asia/Tokio" is not a time zone of the IANA list; did you'),
    (["--enqueue", "sync={a}"], "--enqueue: the payload '{a}' is no JSON: "),
    (["--assert", "deaf=0"], "--assert: there is no count 'deaf'; did you mean dead?"),
    (["--assert", "deaths=0"], "--assert: there is no count 'deaths'; there are fires, catch_ups, "),
    (["--assert", "dead"], "--assert: 'dead' is not understood; write dead=0 or fires>=24 (=, <, >, <=, >=)"),
    (["--fail", "sync=1", "--timeout", "sync=1"], "--fail and --timeout: both speak of the first attempts of 'sync'; "),
    (["--host-exit", "2026-03-01T01:00"], "--host-exit: '2026-03-01T01:00' lies outside of the simulation"),
    (["--enqueue", "sync@2026-03-01"], "--enqueue: '2026-03-01' lies outside of the simulation"),
    (["--down", "05:00-05:00"], "--down: '05:00-05:00' begins and ends at the same time"),
    (
        ["--zone-change", "2026-03-08=UTC", "--zone-change", "2026-03-08=Asia/Tokyo"],
        "--zone-change: two changes at the same time",
    ),
    (["--from", "yesterday"], f"--from: 'yesterday' {NO_TIME}"),
    (["--to", "2026-03-07"], "--to must come after --from, at most 3,660 days later"),
    (["--timezone", "Mars"], "--timezone: "),
    (["--html", "no/such/folder.html"], "--html: cannot write no/such/folder.html: No such file or directory"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSALS)
def test_what_can_not_be_simulated_is_said_with_what_to_write(arguments: list[str], message: str) -> None:
    code, out, err = fixture_runs.call([*CALL, "--no-handlers", *arguments])
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {message}"), err


def test_a_faulty_plugin_gets_its_diagnostics(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(SOURCE.replace("30 2 * * *", "30 25 * * *"))
    _, built, _ = fixture_runs.call(["build", "--check"])
    assert built.startswith("plugin.py:") and "error NSP203 cron-value-out-of-range" in built
    assert fixture_runs.call(CALL) == (1, "", built)


COGOVER = """\
from nsplugin.cogover import define_job


@define_job(key="totals", schedule={"cron": "0 * * * *"})
async def totals(data, log):
    page = await data.object("order").records.list(limit=10)
    log.info("seen", orders=len(page.items))


jobs = [totals]
"""
STANDINS = """\
from nsplugin.testing import local_providers

local = local_providers(objects={"order": [{"id": "o1"}, {"id": "o2"}]})
"""


def test_a_project_is_given_data_and_what_it_logs_is_shown(tmp_path: Path) -> None:
    """spec/cogover.md X1: a scheduled run has no user, so the identity policy has to let it."""
    (tmp_path / "plugin.py").write_text(COGOVER)
    (tmp_path / "nsplugin.toml").write_text('id = "orders"\nplatform = "cogover"\n')
    (tmp_path / "shop_standins.py").write_text(STANDINS)
    call = ["simulate", "--from", "2026-03-07", "--to", "+90min", "--logs"]
    refused = fixture_runs.call(call)
    assert "dead letter" in refused[1] and "does not set allowInternalSystem" in refused[1]
    code, out, err = fixture_runs.call([*call, "--allow-internal-system", "--providers", "shop_standins:local"])
    assert (code, err) == (0, "totals log: seen {'orders': 2}\n")
    assert "fires; attempt 1 succeeds" in out
