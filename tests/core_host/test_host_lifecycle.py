"""Hosts come and go: slow and failing starts, exits with growing waits, idleness, new versions, the end of the core.

spec/core.md H1, Q3; spec/nextskin.md X6.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import host_world
from host_world import QUICK, until
from nsplugin_core.host import launch
from nsplugin_core.host.keeper import Keeper, pause_s
from nsplugin_core.host.process import HostProcess
from nsplugin_core.host.settings import HostSettings

SLOW_RESTART = replace(QUICK, restart_s=30, restart_max_s=30)
FINE = host_world.plugin('"fine": Job(lambda: None), "exits": Job(lambda: os._exit(3)), "sleeps": Job(lambda: time.sleep(60))')
NAPS = "def naps(): time.sleep(0.4)\n" + host_world.plugin('"naps": Job(naps)')


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def", "SyntaxError: invalid syntax (main.py, line 2)"),
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("raise SystemExit(4)", "SystemExit: 4"),
        ("os._exit(5)", "exit code 5"),
        ("x = 1", "main.py has no 'plugin', which entry 'main:plugin' names"),
        ("plugin = 3", "main:plugin: 1 problem\n  NSP004 "),
        (
            "from nsplugin import define_plugin\ndefine_plugin(id='!')",
            "DefinitionError: define_plugin: 1 problem\n  NSP110 /id:",
        ),
        ("class Odd(Exception):\n    def __str__(self): raise self\nraise Odd", "Odd: no message"),
        ("os.kill(os.getpid(), 0); __import__('ctypes').string_at(0)", "killed by SIGSEGV"),
    ],
)
def test_a_plugin_that_can_not_be_loaded_is_paused_and_says_why(tmp_path: Path, code: str, reason: str) -> None:
    with host_world.world(tmp_path / "w", SLOW_RESTART) as world:
        world.put(code)
        attempt = world.attempt("fine")
        world.hosts.start([attempt], world.deliver)
        outcome = world.outcome(attempt)
        assert (outcome.kind, reason in str(outcome.error)) == ("deferred", True), outcome
        status = world.status()
        assert (status.state, status.exits, world.hosts.free("p")) == ("paused", 1, 0)
        assert status.reason.startswith(reason), status
        assert 29 < status.resumes_in_s <= 30


def test_h1_start_up_is_timed(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w", replace(SLOW_RESTART, start_s=0.5)) as world:
        world.put("time.sleep(60)")
        started = time.monotonic()
        world.hosts.wake("p")
        until(lambda: world.status().state == "paused", "the end of the start")
        assert time.monotonic() - started < 5
        assert world.status().reason == "it took more than 0.5 s to load the plugin"


def test_attempts_with_less_time_than_a_start_are_not_kept_waiting_for_it(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(FINE)
        short, long = world.attempt("fine", timeout_ms=9_999), world.attempt("fine", timeout_ms=10_000)
        world.hosts.start([short, long], world.deliver)
        assert (world.outcome(short).kind, world.outcome(short).error) == ("deferred", "its host is starting")
        assert world.outcome(long).kind == "success"


def test_q3_pauses_double_up_to_the_longest() -> None:
    settings = HostSettings(restart_s=0.5, restart_max_s=60)
    assert [pause_s(settings, exits) for exits in (1, 2, 3, 7, 8, 1_000)] == [0.5, 1, 2, 32, 60, 60]


def test_q3_a_host_that_keeps_exiting_is_paused_and_nobody_waits_with_it(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(FINE)
        world.put(FINE.replace("id='p'", "id='other'"), id="other")
        world.ready("other")
        for exits in (1, 2, 3):
            assert world.run("exits").kind == "deferred"
            status = world.status()
            assert (status.state, status.exits, status.reason, world.hosts.free("p")) == ("paused", exits, "exit code 3", 0)
            assert world.run("fine", plugin="other").kind == "success"
        assert world.run("fine").kind == "success"


def test_q3_a_host_that_has_settled_starts_from_the_first_wait_again(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w", replace(QUICK, settled_s=0.3)) as world:
        world.put(FINE)
        world.run("exits")
        assert world.run("fine").kind == "success"
        until(lambda: not world.status().exits, "a host that has settled")
        world.run("exits")
        assert until(lambda: world.status().exits, "the exit") == 1


def test_after_an_exit_attempts_run_one_at_a_time_until_the_host_has_settled(tmp_path: Path) -> None:
    """A plugin that exits at once harms only its own tasks, and of these not the neighbours for ever."""
    with host_world.world(tmp_path / "w", replace(QUICK, settled_s=1.5)) as world:
        world.put(FINE)
        world.run("exits")
        until(lambda: world.hosts.free("p") == 1, "one slot")
        assert world.run("fine").kind == "success"
        assert world.hosts.free("p") == 1
        until(lambda: world.hosts.free("p") > 1, "all slots again")


def test_the_dispatcher_is_told_when_a_host_may_be_asked_again(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        told: list[str] = []
        world.hosts._tell = told.append
        world.put(FINE)
        world.run("exits")
        until(lambda: world.status().state == "paused", "the pause")
        told.clear()
        until(lambda: told, "the word")
        assert (told[0], world.status().state) == ("p", "stopped")


def test_a_host_with_nothing_to_do_ends_and_comes_back_with_work(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w", replace(QUICK, idle_s=0.2)) as world:
        world.put(FINE)
        assert world.run("fine").kind == "success"
        until(lambda: world.status().state == "stopped", "the end of the idle host")
        assert (world.status().exits, world.hosts.free("p")) == (0, QUICK.slots)
        assert world.run("fine").kind == "success"


def test_a_new_version_takes_over_while_the_old_one_finishes(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(NAPS)
        (old,) = world.start(world.attempt("naps"))
        until(lambda: world.status().running, "the start")
        pid = world.ready().pid
        world.put(FINE)
        assert world.run("fine").kind == "success"
        assert world.status().pid != pid
        assert world.outcome(old).kind == "success"
        until(lambda: world.status().running == 0, "the end of the old host")
        assert world.run("naps").error_code == "JOB_MISSING"


def test_a_removed_plugin_takes_nothing_more(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(NAPS)
        world.ready()
        (attempt,) = world.start(world.attempt("naps"))
        world.hosts.remove("p")
        assert world.hosts.free("p") == 0
        assert world.outcome(attempt).kind == "success"
        (late,) = [world.attempt("naps")]
        world.hosts.start([late], world.deliver)
        assert (world.outcome(late).kind, world.outcome(late).error) == ("deferred", "no code of plugin 'p' is known here")


def test_a_graceful_stop_finishes_what_runs_and_gives_back_what_goes_on(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w") as world:
        world.put(NAPS)
        world.put(FINE.replace("id='p'", "id='other'"), id="other")
        short, long = world.attempt("naps"), world.attempt("sleeps", plugin="other")
        world.ready("p")
        world.ready("other")
        world.start(short, long)
        pids = [status.pid for status in world.hosts.statuses()]
        world.hosts.close(grace_s=1.5)
        assert (world.outcome(short).kind, world.outcome(long).kind) == ("success", "deferred")
        assert not [pid for pid in pids if pid is not None and Path(f"/proc/{pid}").exists()]


def test_a_host_without_a_folder_to_work_in_is_paused_and_starts_once_there_is_room(tmp_path: Path) -> None:
    """A full disk spends no attempt and needs nobody (spec/nextskin.md X6)."""
    work = tmp_path / "work"
    with host_world.world(tmp_path / "w", replace(QUICK, work_directory=work)) as world:
        world.put(FINE)
        attempt = world.attempt("fine")
        world.hosts.start([attempt], world.deliver)
        outcome = world.outcome(attempt)
        assert outcome.kind == "deferred"  # given back by the host that could not start, or because there was none yet
        assert outcome.error_code in ("HOST_EXITED", "HOST_UNAVAILABLE")
        until(lambda: world.status().state == "paused", "the host is paused")
        assert "its process can't be started: [Errno 2]" in str(world.status().reason)
        assert world.hosts.free("p") == 0
        work.mkdir()
        until(lambda: world.run("fine").kind == "success", "the host runs an attempt")


@pytest.mark.parametrize("fault", [OSError(24, "Too many open files"), ValueError("embedded null byte")])
def test_a_start_that_fails_half_way_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    spawned: list[subprocess.Popen[bytes]] = []
    real = launch.spawn

    def spawn(*given: Any) -> subprocess.Popen[bytes]:
        spawned.append(real(*given))
        return spawned[-1]

    def channel(*given: Any) -> None:
        raise fault

    with host_world.world(tmp_path / "w", SLOW_RESTART) as world, monkeypatch.context() as patch:
        world.put(FINE)
        patch.setattr("nsplugin_core.host.process.Channel", channel)
        patch.setattr(launch, "spawn", spawn)
        world.hosts.wake("p")
        until(lambda: world.status().state == "paused", "the failure")
        assert world.status().reason == f"its process can't be started: {fault}"
        assert [process.returncode for process in spawned] == [-signal.SIGKILL]


def test_a_machine_without_threads_to_spare_pauses_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(host: HostProcess) -> None:
        raise RuntimeError("can't start new thread")

    with host_world.world(tmp_path / "w") as world:
        world.put(FINE)
        with monkeypatch.context() as patch:
            patch.setattr(HostProcess, "begin", begin)
            attempt = world.attempt("fine")
            world.hosts.start([attempt], world.deliver)
            assert (world.outcome(attempt).kind, world.outcome(attempt).error) == ("deferred", "can't start new thread")
            assert (world.status().state, world.status().exits) == ("paused", 1)
        assert world.run("fine").kind == "success"


def test_what_fails_for_one_plugin_does_not_stop_the_clock_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One thread enforces every time-out: a fault in it is logged, and it goes on."""
    real = Keeper.tick

    def tick(keeper: Keeper, now: float) -> float:
        if keeper.status().plugin == "other":
            raise RuntimeError("a fault of ours")
        return real(keeper, now)

    monkeypatch.setattr(Keeper, "tick", tick)
    with host_world.world(tmp_path / "w") as world:
        world.put(FINE.replace("id='p'", "id='other'"), id="other")
        world.put(FINE)
        world.ready()
        (attempt,) = world.start(world.attempt("sleeps", timeout_ms=300))
        assert world.outcome(attempt).kind == "timeout"
        assert world.hosts.watching
        assert "the core failed over the hosts of other" in caplog.messages
    assert not world.hosts.watching


STAYS = """
import re
def spins():
    time.sleep(0.2)
    print("spinning", flush=True)
    re.match("(a+)+$", "a" * 60 + "b")
def stays(): threading.Thread(target=spins, daemon=True).start()
"""


def test_a_retired_host_that_does_not_leave_is_ended(tmp_path: Path) -> None:
    """One that holds the interpreter would stay for ever otherwise, one more for each upgrade."""
    with host_world.world(tmp_path / "w") as world:
        world.put(STAYS + host_world.plugin('"stays": Job(stays)'))
        assert world.run("stays").kind == "success"
        pid = world.status().pid
        assert pid is not None
        until(lambda: world.lines("stdout"), "the thread")
        world.put(FINE)
        until(lambda: not _lives(pid), "the end of the old host")
        until(lambda: world.run("fine").kind == "success", "the new host runs an attempt")
        assert world.status().exits == 0


class SoonGone:
    """A host that ends, through no fault of the plugin's, just before the word to retire reaches it."""

    made: ClassVar[list[SoonGone]] = []

    def __init__(self, *given: Any) -> None:
        self.changed = given[-1]
        self.state, self.successor, self.blamed, self.reason, self.pid = "ready", False, False, "", len(self.made)
        self.started = self.last_work = 0.0
        self.made.append(self)

    def begin(self) -> None: ...
    def running(self) -> int:
        return 0

    def tick(self, now: float) -> float:
        return now + 60

    def join(self, timeout: float) -> bool:
        return True

    def kill(self, reason: str, *, blamed: bool) -> None: ...
    def retire(self, reason: str, *, successor: bool) -> None:
        if self.state != "ended":
            self.state = "ended"
            self.changed(self)
        self.changed(self)


@pytest.mark.parametrize("blamed", [False, True])
def test_a_host_that_ends_while_it_is_replaced_is_gone_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blamed: bool
) -> None:
    monkeypatch.setattr(SoonGone, "made", [])
    monkeypatch.setattr("nsplugin_core.host.keeper.HostProcess", SoonGone)
    with host_world.world(tmp_path / "w", replace(QUICK, restart_s=60)) as world:
        source = world.put(FINE)
        world.hosts.wake("p")
        SoonGone.made[0].blamed = blamed
        world.hosts.put(source)
        assert len(SoonGone.made) == (1 if blamed else 2)
        assert (world.status().exits, world.status().pid) == ((1, None) if blamed else (0, 1))


def test_cancel_ends_an_attempt_without_an_outcome(tmp_path: Path) -> None:
    """spec/core.md H2, as the dispatcher asks for it."""
    with host_world.world(tmp_path / "w") as world:
        world.put("async def waits(ctx): await ctx.signal.wait()\n" + host_world.plugin('"waits": Job(waits)'))
        (attempt,) = world.start(world.attempt("waits"))
        until(lambda: world.status().running, "the start")
        world.hosts.cancel(attempt.task_id, attempt.claim)
        until(lambda: world.status().running == 0, "the end")
        assert world.outcomes == []


CORE = """
import sys, time
from dataclasses import replace
from pathlib import Path
import host_world
with host_world.world(Path(sys.argv[1])) as world:
    world.put(Path(sys.argv[2]).read_text())
    world.start(world.attempt("spins"))
    world.ready()
    host_world.until(lambda: world.lines("stdout"), "the attempt")
    print(world.status().pid, flush=True)
    time.sleep(60)
"""
HOLDS = "import re\ndef spins():\n    print('spinning', flush=True)\n    re.match('(a+)+$', 'a' * 60 + 'b')\n"


@pytest.mark.parametrize("isolation", ["namespace", "process-group"])
def test_hosts_end_when_the_core_is_killed_whatever_they_are_doing(tmp_path: Path, isolation: str) -> None:
    """B2: even one that holds the interpreter and reads nothing."""
    code = tmp_path / "code.py"
    code.write_text(textwrap.dedent(HOLDS) + host_world.plugin('"spins": Job(spins)'))
    script = CORE.replace("Path(sys.argv[1])", f"Path(sys.argv[1]), replace(host_world.QUICK, isolation={isolation!r})")
    paths = os.pathsep.join(path for path in sys.path if path)
    core = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "w"), str(code)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert core.stdout is not None
    with core.stdout:
        pid = int(core.stdout.readline())
    group = [pid, *_children(pid)]
    assert len(group) == (2 if isolation == "namespace" else 1)
    core.send_signal(signal.SIGKILL)
    core.wait()
    until(lambda: not [pid for pid in group if _lives(pid)], "the end of the hosts")


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
