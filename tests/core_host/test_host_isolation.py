"""What a plugin finds around itself: little, and nothing of the core's (spec/core.md H4)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import host_world
from host_world import QUICK, World
from waiting import until

SLOW_RESTART = replace(QUICK, restart_s=30, restart_max_s=30)
CODE = """
import json, resource
def looks():
    limits = {name: resource.getrlimit(getattr(resource, name)) for name in ("RLIMIT_AS", "RLIMIT_NOFILE", "RLIMIT_CORE")}
    descriptors = {}
    for fd in range(64):
        try: descriptors[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except OSError: pass
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    print(json.dumps({"environment": dict(os.environ), "cwd": os.getcwd(), "files": os.listdir("."), "limits": limits,
        "descriptors": descriptors, "pid": os.getpid(), "group": os.getpgrp(), "session": os.getsid(0), "others": others,
        "path": sys.path, "flags": [sys.flags.isolated, sys.flags.utf8_mode, sys.dont_write_bytecode], "argv": sys.argv}))
def writes(): open("left", "w").write("x"); print(os.getcwd())
def signals_its_group():
    try: os.killpg(os.getpgrp(), signal.SIGKILL)
    except ProcessLookupError: pass
def leaves_children():
    if os.fork() == 0: time.sleep(60)
    print("forked"); time.sleep(0.1); os._exit(3)
def imports_a_neighbour(): import neighbour; print(neighbour.__file__)
def multiprocesses():
    import multiprocessing
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool: print(sum(pool.map(abs, range(10))))
async def subprocesses():
    process = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0])
"""
JOBS = ("looks", "writes", "signals_its_group", "leaves_children", "imports_a_neighbour", "multiprocesses", "subprocesses")
PLUGIN = CODE + host_world.plugin(", ".join(f'"{name.replace("_", "-")}": Job({name})' for name in JOBS))


def namespaces_work() -> bool:
    """Whether this machine lets us have PID namespaces, asked of another program than ours."""
    return any(_succeeds("unshare", *flags, "--pid", "--fork", "true") for flags in ([], ["--user"]))


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module", params=["namespace", "process-group"])
def shut_in(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, bool]]:
    """A host in each kind of isolation, and whether it has a namespace."""
    settings = replace(QUICK, isolation=request.param, memory_bytes=3 << 30, open_files=100)
    os.environ["CORE_SECRET"] = "of the core"
    try:
        with host_world.world(tmp_path_factory.mktemp("shut"), settings) as world:
            source = world.put(PLUGIN, environment={"MODE": "test"})
            (source.directory / "neighbour.py").write_text("")
            yield world, request.param == "namespace" and namespaces_work()
    finally:
        del os.environ["CORE_SECRET"]


def seen(world: World, job: str = "looks") -> Any:
    """What a job printed, as JSON if it is some."""
    del world.logs[:]
    assert world.run(job).kind == "success"
    (line,) = world.lines("stdout")
    return json.loads(line) if line.startswith("{") else line


def test_the_environment_is_small(shut_in: tuple[World, bool]) -> None:
    environment = seen(shut_in[0])["environment"]
    assert environment["MODE"] == "test"
    assert environment.keys() <= {
        "PATH",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HOME",
        "TMPDIR",
        "LANG",
        "TZ",
        "MALLOC_ARENA_MAX",
        "MODE",
    }


def test_its_folder_is_its_own_and_goes_with_it(shut_in: tuple[World, bool]) -> None:
    world, _ = shut_in
    look = seen(world)
    assert (look["cwd"], look["files"]) == (look["environment"]["HOME"], [])
    folder = Path(seen(world, "writes"))
    assert (folder / "left").read_text() == "x"
    world.run("leaves-children")
    until(lambda: not folder.exists(), "the end of the folder")


def test_limits_are_set(shut_in: tuple[World, bool]) -> None:
    assert seen(shut_in[0])["limits"] == {"RLIMIT_AS": [3 << 30] * 2, "RLIMIT_NOFILE": [100, 100], "RLIMIT_CORE": [0, 0]}


def test_no_descriptor_is_inherited_and_the_standard_ones_lead_nowhere_else(shut_in: tuple[World, bool]) -> None:
    descriptors = seen(shut_in[0])["descriptors"]
    assert (descriptors["0"], descriptors["1"]) == ("/dev/null", descriptors["2"])
    kinds = {name.partition(":")[0] for fd, name in descriptors.items() if int(fd) > 2}
    assert kinds <= {"pipe", "socket", "anon_inode"}


def test_it_runs_its_own_python_on_its_own_path(shut_in: tuple[World, bool]) -> None:
    look = seen(shut_in[0])
    assert look["flags"] == [1, True, True]
    assert look["path"][0] == str(shut_in[0].sources["p"].directory)
    assert str(Path(__file__).parents[1]) not in look["path"]
    assert seen(shut_in[0], "imports-a-neighbour") == str(shut_in[0].sources["p"].directory / "neighbour.py")


def test_it_is_alone_in_its_namespace_or_at_least_leads_its_group(shut_in: tuple[World, bool]) -> None:
    world, own_namespace = shut_in
    look = seen(world)
    if own_namespace:
        assert (look["pid"], look["group"], look["session"], look["others"]) == (1, 1, 1, [])
    else:
        assert look["pid"] == look["group"] == look["session"] == world.status().pid


def test_signals_to_its_group_reach_nobody_else(shut_in: tuple[World, bool]) -> None:
    world, own_namespace = shut_in
    assert world.run("signals-its-group").kind == ("success" if own_namespace else "deferred")


def test_its_children_end_with_it(shut_in: tuple[World, bool]) -> None:
    world, _ = shut_in
    status = world.ready()
    assert status.pid is not None
    group = status.pid
    assert world.run("leaves-children").kind == "deferred"
    until(lambda: not _members(group), "the end of the children")


def _members(session: int) -> list[str]:
    found = []
    for entry in [entry for entry in Path("/proc").iterdir() if entry.name.isdecimal()]:
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session:
            found.append(entry.name)
    return found


def test_processes_of_its_own_work(shut_in: tuple[World, bool]) -> None:
    assert seen(shut_in[0], "multiprocesses") == "45"
    assert seen(shut_in[0], "subprocesses") == "b'hi\\n'"


def test_a_host_whose_other_half_is_killed_at_the_start_ends_too() -> None:
    """Whoever holds the pipe keeps this test waiting: it ends when nobody is left."""
    code = (
        "import os, signal; os.write = lambda *data: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from nsplugin_core.host.inside.isolation import shut_in; shut_in('namespace')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30)
    assert done.returncode == (-signal.SIGKILL if namespaces_work() else 0)


def test_an_interpreter_that_can_not_be_started_pauses_the_plugin(tmp_path: Path) -> None:
    with host_world.world(tmp_path / "w", SLOW_RESTART) as world:
        world.put(PLUGIN, python=str(tmp_path / "no-python"))
        world.hosts.wake("p")
        until(lambda: world.status().state == "paused", "the pause")
        assert "its process can't be started: [Errno 2]" in world.status().reason


def test_another_protocol_is_refused_by_both(tmp_path: Path) -> None:
    """A host of another version, played by a shell script that answers as one."""
    script = tmp_path / "other-version"
    script.write_text('#!/bin/sh\necho \'[{"t":"pid","pid":0},{"t":"ready","protocol":2,"jobs":[],"routes":[]}]\'\nsleep 60\n')
    script.chmod(0o755)
    with host_world.world(tmp_path / "w", SLOW_RESTART) as world:
        world.put(PLUGIN, python=str(script))
        world.hosts.wake("p")
        until(lambda: world.status().state == "paused", "the pause")
        assert world.status().reason == "it sent protocol 2, where the core speaks 1"
