"""``plan``: when a job's attempts are made, and what its schedule's next fires meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fixture_runs
from nsplugin.durations import parsed, spoken
from nsplugin.manifest import Manifest
from nsplugin.planning import UnknownJob, plan
from nsplugin.platforms import load
from nsplugin.retries import wait_ms

SOURCE = """\
from nsplugin import define_plugin


def sync(ctx): ...


plugin = define_plugin({
    "id": "stock",
    "jobs": {"sync": {"maxAttempts": 4, "timeoutMs": 30_000, "handler": sync}},
    "cron": [{"schedule": "*/2 * * * *", "job": "sync"}],
})
"""
TEXT = """\
stock: sync (NextSkin): 4 attempts of at most 30 s each
  every failure and time-out is retried

  attempt   waits         starts after        ends after
        1   —             0 s                 0 s – 30 s
        2   8 s – 12 s    8 s – 42 s          8 s – 1 min 12 s
        3   16 s – 24 s   24 s – 1 min 36 s   24 s – 2 min 6 s
        4   32 s – 48 s   56 s – 2 min 54 s   56 s – 3 min 24 s

Given up 56 s after the first attempt starts if each fails at once,
3 min 24 s after it if each takes all its time.

*/2 * * * *  every 2 minutes (Europe/Paris)
  2026-12-01 01:02 CET  starts a task. If it keeps failing:
  2026-12-01 01:04 CET  one of attempts 3 to 4 can overlap this fire, 2 min later, if attempts take their time
  2026-12-01 01:06 CET  meets nothing: all attempts are over by then
  ! a fire that meets an unfinished task is skipped
"""
CALL = ("--after", "2026-12-01T00:00Z", "--timezone", "Europe/Paris", "--count", "2")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plugin.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _manifest(schedule: str, **job: int) -> Manifest:
    raw = {
        "manifestVersion": 1, "platform": "nextskin", "id": "stock", "entry": "plugin:plugin", "capabilities": [],
        "jobs": {"sync": job}, "cron": [{"schedule": schedule, "job": "sync"}], "routes": {},
    }  # fmt: skip
    return Manifest.of(raw, load("nextskin"))


def test_the_plan_is_a_table_with_what_the_next_fires_meet(plugin: Path) -> None:
    assert fixture_runs.call(["plan", "sync", *CALL]) == (0, TEXT, "")


def test_the_plan_as_json(plugin: Path) -> None:
    code, out, _ = fixture_runs.call(["plan", "sync", *CALL, "--format", "json"])
    report = json.loads(out)
    assert code == 0
    assert report["attempts"][1] == {"attempt": 2, "waitMs": [8000, 12000], "startsMs": [8000, 42000], "endsMs": [8000, 72000]}
    assert report["spanMs"] == [56000, 204000]
    assert report["schedules"][0]["firstFire"] == "2026-12-01T00:02:00Z"
    assert report["schedules"][0]["nextFires"][0] == {
        "at": "2026-12-01T00:04:00Z", "afterMs": 120000, "running": [3, 4], "awaited": [4, 4], "certain": False,
    }  # fmt: skip


def test_an_unknown_job_gets_a_name_like_it(plugin: Path) -> None:
    assert fixture_runs.call(["plan", "synk"]) == (2, "", "Error: no job 'synk' here; did you mean 'sync'?\n")


def test_a_faulty_plugin_gets_its_diagnostics(plugin: Path) -> None:
    (plugin / "plugin.py").write_text(SOURCE.replace('"maxAttempts": 4', '"maxAttempts": 21'))
    _, built, _ = fixture_runs.call(["build", "--check"])
    assert built.startswith("plugin.py:") and "error NSP104 max-attempts-out-of-range" in built
    assert fixture_runs.call(["plan", "sync"]) == (1, "", built)


def test_one_attempt_that_surely_meets_the_next_fire() -> None:
    """An attempt that is made after the next fire is said to overlap it."""
    found = plan(_manifest("* * * * *", maxAttempts=8, timeoutMs=1), "sync", timezone="UTC", after=0, count=1)
    (meeting,) = found.schedules[0].meetings
    assert meeting.certain and meeting.running == (4, 4)


def test_no_such_job() -> None:
    with pytest.raises(UnknownJob, match="declares no job 'other'"):
        plan(_manifest("0 0 * * *"), "other", timezone="UTC", after=0)


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 5_000)), min_size=6, max_size=6))
def test_every_run_lies_within_its_plan(attempts: list[tuple[float, int]]) -> None:
    """X3: whatever the jitter and however long attempts take, each starts and ends within its ranges."""
    platform = load("nextskin")
    steps = plan(_manifest("0 0 * * *", maxAttempts=6, timeoutMs=5_000), "sync", timezone="UTC", after=0).steps
    now = 0
    for step, (random, takes) in zip(steps, attempts, strict=True):
        assert step.starts[0] <= now <= step.starts[1]
        now += takes
        assert step.ends[0] <= now <= step.ends[1]
        now += wait_ms(platform.retry, step.attempt, random)


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0, "0 s"), (250, "250 ms"), (9_812, "9.8 s"), (59_960, "1 min"), (72_000, "1 min 12 s"), (7_300_000, "2 h 2 min")],
)
def test_durations_in_words(milliseconds: int, words: str) -> None:
    assert spoken(milliseconds) == words


def test_durations_are_read_with_their_unit() -> None:
    assert [parsed(text) for text in ("250ms", "30s", "1.5 min", "2h", "1d")] == [250, 30_000, 90_000, 7_200_000, 86_400_000]
    with pytest.raises(ValueError, match="write a number and ms, s, min, h or d"):
        parsed("30")
