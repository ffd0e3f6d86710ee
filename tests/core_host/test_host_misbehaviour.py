"""A plugin that blocks, leaks, prints garbage, forks, floods, returns 10 MB, exits or goes on harms only its own tasks.

spec/core.md H1-H4, Q3; spec/nextskin.md X2, X6. Beside the bad plugin there is always a good one, which must not notice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import host_world
from host_world import QUICK, World
from waiting import until

GOOD = """
async def good(payload, ctx):
    await ctx.kv.set("seen", payload)
from nsplugin import Job, define_plugin
plugin = define_plugin(id="good", capabilities=["storage.kv"], jobs={"good": Job(good)})
"""

BAD = """
from nsplugin import Job, define_plugin

async def fine(): pass

async def blocks_the_loop(): time.sleep(60)

def blocks_a_thread(): time.sleep(60)

async def spins():
    while True: pass

async def holds_the_interpreter():
    import re
    re.match(r"(a+)+$", "a" * 40 + "b")

async def ignores_its_time_out(ctx):
    while True:
        try: await asyncio.sleep(60)
        except asyncio.CancelledError: pass

async def waits_for_the_signal(ctx):
    await ctx.signal.wait()

async def sleeps(): await asyncio.sleep(60)

def looks_at_the_signal(ctx):
    while not ctx.signal.aborted: time.sleep(0.01)

async def exits(): os._exit(3)

async def kills_itself():
    if os.getpid() == 1: os.kill(1, signal.SIGKILL)

async def signals_everything():
    if os.getpid() == 1:
        try: os.kill(-1, signal.SIGKILL)
        except ProcessLookupError: pass

async def crashes():
    import ctypes
    ctypes.string_at(0)

HOARD = []
def leaks():
    while True: HOARD.append(bytearray(8 << 20))

async def prints_garbage():
    for fd in (1, 2):
        os.write(fd, bytes(range(256)) * 40 + b"\\n")
    print("\\x00\\ud800 not \\u2028 utf-8")

async def writes_on_every_descriptor():
    for fd in range(3, 256):
        try: os.write(fd, b"{garbage}\\n")
        except OSError: pass
    await asyncio.sleep(60)

async def sends_an_endless_line():
    for fd in range(3, 256):
        try:
            for _ in range(200): os.write(fd, b"x" * 65536)
        except OSError: pass

async def sends_deep_nesting():
    for fd in range(3, 256):
        try: os.write(fd, b"[" * 200_000 + b"\\n")
        except OSError: pass
    await asyncio.sleep(60)

async def closes_descriptors():
    os.closerange(0, 256)

async def floods_prints():
    for number in range(100_000): print("line", number)

def floods_the_pipe():
    for _ in range(2_000): os.write(1, b"0123456789abcdef" * 4096)

async def floods_the_log(ctx):
    for number in range(100_000): ctx.log.info("x" * 100_000, number=number)

async def returns_10_mb(): return b"x" * 10_000_000

async def raises_10_mb(): raise ValueError("x" * 10_000_000)

def forks():
    if os.fork() == 0:
        return
    time.sleep(0.2)

async def forks_on_the_loop():
    os.fork()

async def forks_and_waits():
    if os.fork() == 0:
        time.sleep(60)
    await asyncio.sleep(60)

def starts_a_process_that_stays():
    import subprocess
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    os._exit(0)

async def signals_its_parents():
    # harmless only where they can't be reached: in a namespace (test_host_isolation.py says whether there are any)
    if os.getpid() == 1:
        for pid in (os.getppid(), -os.getpgid(0)):
            try: os.kill(pid, signal.SIGKILL)
            except ProcessLookupError: pass
    await asyncio.sleep(0.2)

async def stops_the_loop():
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.05)

async def raises_in_a_task_of_its_own():
    asyncio.get_running_loop().create_task(dies())
    await asyncio.sleep(0.05)

async def dies(): raise SystemExit(4)

names = [name for name, value in list(globals().items()) if callable(value) and getattr(value, "__module__", "") == "main"]
plugin = define_plugin(id="bad", jobs={name.replace("_", "-"): Job(globals()[name]) for name in names if name != "dies"})
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A bad plugin and a good one, each in its own host."""
    settings = replace(QUICK, memory_bytes=1 << 30, slots=8, restart_s=0.1, restart_max_s=0.3)
    with host_world.world(tmp_path_factory.mktemp("pair"), settings) as world:
        world.put(GOOD, id="good", jobs=["good"])
        world.put(BAD, id="bad", jobs=[])
        world.ready("good")
        yield world
        assert world.run("good", {"last": True}, plugin="good").kind == "success"
        assert world.status("good").exits == 0


def bad(world: World, job: str, timeout_ms: int = 10_000) -> tuple[str, str | None]:
    """Run a bad job beside good ones, which all succeed without delay; what it came to."""
    good_pid = world.ready("good").pid
    world.ready("bad")
    (attempt,) = world.start(world.attempt(job, plugin="bad", timeout_ms=timeout_ms))
    started = time.monotonic()
    for number in range(5):
        assert world.run("good", number, plugin="good").kind == "success"
    assert time.monotonic() - started < 5
    outcome = world.outcome(attempt)
    assert world.status("good").pid == good_pid
    return outcome.kind, outcome.error


@pytest.mark.parametrize(
    "job",
    ["blocks-the-loop", "blocks-a-thread", "spins", "holds-the-interpreter", "ignores-its-time-out"],
)
def test_h2_an_attempt_that_goes_on_is_timed_out_at_once_and_its_host_replaced(pair: World, job: str) -> None:
    before = pair.ready("bad").pid
    started = time.monotonic()
    assert bad(pair, job, timeout_ms=300) == ("timeout", "timed out after 300 ms")
    assert time.monotonic() - started < 5
    until(lambda: pair.status("bad").pid not in (before, None), "another host")
    assert pair.run("fine", plugin="bad").kind == "success"


@pytest.mark.parametrize("job", ["waits-for-the-signal", "looks-at-the-signal", "sleeps", "forks-and-waits"])
def test_h2_an_attempt_that_ends_within_the_grace_costs_no_host(pair: World, job: str) -> None:
    before = pair.ready("bad").pid
    assert bad(pair, job, timeout_ms=200)[0] == "timeout"
    until(lambda: pair.status("bad").running == 0, "the end of the attempt")
    assert pair.status("bad").pid == before


@pytest.mark.parametrize("job", ["exits", "crashes", "closes-descriptors", "starts-a-process-that-stays"])
def test_x6_an_exit_gives_the_attempt_back(pair: World, job: str) -> None:
    kind, error = bad(pair, job)
    assert kind == "deferred"
    assert error is not None and error.startswith("the plugin's host exited: ")


def test_x6_the_others_in_the_host_are_given_back_too(tmp_path: Path) -> None:
    with host_world.world(tmp_path) as world:
        world.put(BAD, id="bad", jobs=[])
        world.ready("bad")
        others = world.start(*(world.attempt("sleeps", plugin="bad") for _ in range(3)))
        world.run("exits", plugin="bad")
        assert [world.outcome(attempt).kind for attempt in others] == ["deferred"] * 3


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("writes-on-every-descriptor", "it sent a line that is no JSON"),
        ("sends-an-endless-line", "it sent a line of more than 4,194,304 bytes"),
        ("sends-deep-nesting", "it sent a line that is no JSON"),
    ],
)
def test_h1_garbage_on_the_protocols_pipe_ends_that_host_only(pair: World, job: str, why: str) -> None:
    kind, error = bad(pair, job)
    assert (kind, why in str(error)) == ("deferred", True), error


@pytest.mark.parametrize(
    ("job", "kind"),
    [
        ("prints-garbage", "success"),
        ("floods-prints", "success"),
        ("floods-the-log", "success"),
        ("returns-10-mb", "success"),
        ("stops-the-loop", "success"),
        ("raises-in-a-task-of-its-own", "success"),
        ("forks", "success"),
        ("forks-on-the-loop", "success"),
        ("signals-its-parents", "success"),
        ("signals-everything", "success"),
        ("kills-itself", "success"),
    ],
)
def test_what_does_no_harm_succeeds(pair: World, job: str, kind: str) -> None:
    before = pair.ready("bad").pid
    assert bad(pair, job)[0] == kind
    assert pair.status("bad").pid == before
    assert pair.run("fine", plugin="bad").kind == "success"


def test_floods_are_cut_and_the_loss_is_told(pair: World) -> None:
    del pair.logs[:]
    bad(pair, "floods-prints")
    printed = [line for line in pair.lines("stdout") if line.startswith("line ")]
    assert 0 < len(printed) < 10_000

    def told() -> bool:
        """With the next line that there is room for."""
        bad(pair, "prints-garbage")
        return any("lines dropped: the plugin logs more than 500 a second" in line for line in pair.lines("host"))

    until(told, "the number of lost lines")


def test_a_flood_past_python_slows_only_who_floods(pair: World) -> None:
    """128 MB at 4 MiB a second: the attempt is held back by its own pipe until its time is over."""
    assert bad(pair, "floods-the-pipe", timeout_ms=500)[0] == "timeout"
    assert all(len(line) < 10_000 for line in pair.lines("output"))


def test_an_error_of_10_mb_is_cut(pair: World) -> None:
    kind, error = bad(pair, "raises-10-mb")
    assert (kind, error) == ("failure", "x" * 2_000)


def test_h4_memory_has_a_limit_and_a_host_that_reached_it_is_replaced(pair: World) -> None:
    before = pair.ready("bad").pid
    kind, _ = bad(pair, "leaks")
    assert kind in ("failure", "deferred")
    until(lambda: pair.status("bad").pid not in (before, None), "another host")
    assert pair.run("fine", plugin="bad").kind == "success"


def test_h4_nothing_that_a_plugin_started_outlives_its_host(tmp_path: Path) -> None:
    code = f"""
    import subprocess
    def stays(): subprocess.Popen(["sleep", "321"], start_new_session=True); os._exit(0)
    {host_world.plugin('"stays": Job(stays)')}"""
    with host_world.world(tmp_path / "w") as world:
        world.put(code, jobs=["stays"])
        assert world.run("stays").kind == "deferred"
        until(lambda: not _running("321"), "the end of what the plugin started")


def _running(argument: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if command[:2] == [b"sleep", argument.encode()]:
                found.append(entry.name)
    return found
