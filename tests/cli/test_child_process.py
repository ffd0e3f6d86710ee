"""``build`` imports a plugin in a child: however the child behaves or dies, the report is right (spec/cli.md build)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import fixture_runs
from waiting import PATIENCE, ended, until

DEFINITION = """
from nsplugin import Job, define_plugin


def tidy():
    pass


plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)})
"""


def build(folder: Path, source: str, *options: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, report and standard error of building a plugin of that source."""
    (folder / "plugin.py").write_text(source, encoding="utf-8")
    code, out, err = fixture_runs.call(["build", str(folder), "--format", "json", *options])
    report = json.loads(out)
    assert set(report) == {"version", "command", "summary", "diagnostics", "plugins"}
    return code, report, err


def findings(report: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(item["code"], item["line"]) for item in report["diagnostics"]]


UNHARMED = {
    "prints": "print('{}'); print('x' * 300_000)",
    "writes to the descriptors": "import os; os.write(1, b'\\x00{'); os.write(2, b'}' * 200_000)",
    "replaces print": "import builtins; builtins.print = None",
    "replaces json": "import json; json.dumps = json.loads = lambda *a, **k: 'wrong'",
    "replaces the built-in functions": "import builtins; builtins.len = builtins.isinstance = lambda *a: 0",
    "replaces modules": "import sys, types; sys.modules['json'] = sys.modules['os'] = types.ModuleType('wrong')",
    "replaces the standard streams": "import sys; sys.stdout = sys.stderr = None",
    "closes the standard streams": "import os; os.close(0); os.close(1); os.close(2)",
    "closes the small descriptors": "import os; os.closerange(3, 128)",
    "replaces the exits": "import os, sys; os._exit = sys.exit = lambda *a: None",
    "reads standard input": "import sys; assert sys.stdin.read() == ''",
    "starts a thread that never ends": "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
    "registers exit handlers that hang": "import atexit, time; atexit.register(time.sleep, 60)",
    "ignores signals": "import signal; [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGTERM, signal.SIGINT)]",
    "forks a child that holds the pipes": "import os, time\nif os.fork() == 0:\n    time.sleep(60)",
    "forks a child that returns": "import os\nos.fork()",
    "starts a process that holds the pipes": "import subprocess; subprocess.Popen(['sleep', '60'])",
    "leaves the process group": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3)\n    os._exit(0)",
    "changes folder, locale and mask": "import locale, os; os.chdir('/'); os.umask(0o777); locale.setlocale(0, 'C')",
    "changes sys.path": "import sys; sys.path[:] = []; sys.argv = None; sys.meta_path.clear()",
    "sets a profile and a trace function": "import sys; sys.setprofile(lambda *a: None); sys.settrace(lambda *a: None)",
    "lowers the recursion limit": "import sys; sys.setrecursionlimit(120)",
    "patches the classes of json": "import json; json.JSONEncoder.encode = json.JSONEncoder.iterencode = None",
}


@pytest.mark.parametrize("first", UNHARMED.values(), ids=UNHARMED.keys())
def test_what_a_plugin_does_to_its_process_changes_nothing(tmp_path: Path, first: str) -> None:
    start = time.monotonic()
    code, report, _ = build(tmp_path, DEFINITION + first)
    assert (code, findings(report)) == (0, [])
    assert time.monotonic() - start < 8
    assert json.loads((tmp_path / "dist/plugin.manifest.json").read_text())["id"] == "tidy"


ENDED = "importing the entry ended its process"
DEATHS = {
    "sys.exit": ("import sys\n\nsys.exit(0)", 3, "SystemExit: the entry called sys.exit(0)"),
    "os._exit": ("import os\n\nos._exit(0)", 1, f"{ENDED} with exit code 0, and nothing could be read from it"),
    "SIGKILL": ("import os\n\nos.kill(os.getpid(), 9)", 1, f"{ENDED} by SIGKILL"),
    "SIGSEGV": ("import ctypes\n\nctypes.string_at(0)", 3, f"{ENDED} by SIGSEGV"),
    "abort": ("import os\n\nos.abort()", 3, f"{ENDED} by SIGABRT"),
    "KeyboardInterrupt": ("x = 1\n\nraise KeyboardInterrupt", 3, "the entry raised KeyboardInterrupt"),
    "an exception": ("x = 1\n\nraise ValueError('no\\n  luck')", 3, "ValueError: no luck"),
    "an exception without a text": (
        "class Odd(Exception):\n    def __str__(self): raise OSError\nraise Odd",
        3,
        "Odd: (its text cannot be made: OSError)",
    ),
    "an endless recursion": ("def f():\n    f()\n\nf()", 2, "RecursionError: maximum recursion depth exceeded"),
    "a syntax error": ("x = 1\n\ny = (", 3, "SyntaxError: '(' was never closed"),
    "a bad indent": ("if True:\n\nx = 1", 3, "IndentationError: expected an indented block after 'if' statement on line 1"),
    "a null byte": ("x = 1\n\0", 1, "SyntaxError: source code string cannot contain null bytes"),
    "a module that is missing": ("x = 1\n\nimport no_such_module", 3, "ModuleNotFoundError: No module named 'no_such_module'"),
    "exec": ("x = 1\n\nos._exit(1)", 3, "NameError: name 'os' is not defined"),
    "another program": (
        "import os\n\nos.execv('/bin/true', ['true'])",
        1,
        f"{ENDED} with exit code 0, and nothing could be read from it",
    ),
}


@pytest.mark.parametrize(("source", "line", "message"), DEATHS.values(), ids=DEATHS.keys())
def test_an_entry_that_fails_is_one_finding(tmp_path: Path, source: str, line: int, message: str) -> None:
    code, report, err = build(tmp_path, source)
    (finding,) = report["diagnostics"]
    assert (code, finding["code"], finding["line"], finding["message"]) == (1, "NSP003", line, message)
    assert err == ""
    assert not (tmp_path / "dist").exists()


HANGS = {
    "a loop": "x = 1\nwhile True:\n    pass",
    "a sleep": "import time\n\ntime.sleep(60)",
    "a wait for itself": "import threading\n\nthreading.Event().wait()",
    "a loop that prints": "while True:\n\n    print('x' * 1000)",
    "a loop that catches everything": "while True:\n    try:\n        raise KeyboardInterrupt\n    except BaseException: pass",
}


@pytest.mark.parametrize("source", HANGS.values(), ids=HANGS.keys())
def test_an_entry_that_hangs_is_stopped_where_it_is(tmp_path: Path, source: str) -> None:
    start = time.monotonic()
    code, report, _ = build(tmp_path, source, "--timeout", "2")
    assert code == 1
    ((name, line),) = findings(report)
    assert name == "NSP005"
    assert line is not None and line >= 1
    assert time.monotonic() - start < 6


def test_a_hanging_call_in_another_module_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text("import time\n\n\ndef wait():\n    time.sleep(60)\n")
    _, report, _ = build(tmp_path, "from waiting import wait\n\nwait()\n", "--timeout", "2")
    (finding,) = report["diagnostics"]
    assert (Path(finding["path"]).name, finding["line"]) == ("waiting.py", 5)


def test_an_exception_in_another_module_is_shown_there_with_the_way_to_it(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text('def wanted(name):\n    return {"é": 1}[name]\n', encoding="utf-8")
    _, report, _ = build(tmp_path, 'from settings import wanted\n\nTOKEN = wanted("TOKEN")\n')
    (finding,) = report["diagnostics"]
    place = (finding["line"], finding["column"], finding["endLine"], finding["endColumn"])
    assert (Path(finding["path"]).name, place) == ("settings.py", (2, 12, 2, 26))
    assert finding["hint"] == "called from plugin.py:3"


def test_nothing_that_a_plugin_started_outlives_the_build(tmp_path: Path) -> None:
    source = DEFINITION + "import subprocess; open('pid', 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\n"
    assert build(tmp_path, source)[0] == 0
    pid = int((tmp_path / "pid").read_text())
    until(lambda: ended(pid), "the end of what it started")


def test_what_a_plugin_prints_is_shown_on_standard_error_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = DEFINITION + "import sys\nprint('héllo\\x1b[31m')\nprint('more', file=sys.stderr)\n"
    (tmp_path / "plugin.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = fixture_runs.call(["build", "--stdout"])
    assert code == 0
    assert json.loads(out)["id"] == "tidy"
    assert err.startswith(
        "plugin.py printed to standard output:\n  | héllo\\x1b[31m\nplugin.py printed to standard error:\n  | more\n"
    )


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    _, _, err = build(tmp_path, DEFINITION + "print('x' * 1_000_000)")
    assert len(err) < 70_000
    assert "… and 934,465 more bytes" in err


def test_the_manifest_is_the_same_in_every_process(tmp_path: Path) -> None:
    """The order of sets, and docstrings, do not depend on how nsplugin is run (spec/manifest.md: same bytes)."""
    source = '''
from pydantic import BaseModel
from nsplugin import Job, define_plugin

NAMES = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}


class Key(BaseModel):
    """What is tidied."""


def tidy():
    pass


JOBS = {name: Job(tidy, payload=Key) for name in NAMES}
plugin = define_plugin(id="tidy", jobs=JOBS, capabilities=list({"storage.kv", "storage.b", "storage.c"}))
'''
    (tmp_path / "plugin.py").write_text(source, encoding="utf-8")
    made = set()
    for seed, level in (("1", "0"), ("2", "2"), ("3", "1"), ("random", "0")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONOPTIMIZE": level}
        command = [sys.executable, "-m", "nsplugin_cli", "build", "--stdout", str(tmp_path)]
        made.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    (manifest,) = made
    assert b"What is tidied." in manifest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
def test_a_build_that_is_killed_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    source = "import os, subprocess, time\nchild = subprocess.Popen(['sleep', '60'])\n"
    source += "open('new', 'w').write(f'{os.getpid()} {child.pid}'); os.rename('new', 'pids')\ntime.sleep(60)\n"
    (tmp_path / "plugin.py").write_text(source, encoding="utf-8")
    building = subprocess.Popen(
        [sys.executable, "-m", "nsplugin_cli", "build", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until((tmp_path / "pids").exists, "the import")
    building.send_signal(number)
    building.wait(PATIENCE)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    until(lambda: ended(*pids), "the end of what it started")


def test_what_was_found_before_the_entry_failed_is_reported_too(tmp_path: Path) -> None:
    """All findings in one run (spec/cli.md)."""
    source = "from nsplugin import Job, define_plugin\n\n"
    source += 'plugin = define_plugin(id="x y", jobs={"a": Job(print, max_attempts=21)})\n1 / 0\n'
    _, report, _ = build(tmp_path, source)
    assert ("NSP110", 3) in findings(report)
    assert ("NSP104", 3) in findings(report)
    assert ("NSP003", 4) in findings(report)


@pytest.mark.parametrize(
    ("decorator", "code", "message"),
    [
        ('@define_job("a7")', "NSP007", 'define_job takes a mapping or keyword arguments, not the string "a7"'),
        ('@define_job({"key": "a8"})', "NSP106", 'the handler of job "a8" is missing'),
        ('@define_job({"key": "a8", "name": None})', "NSP106", 'the handler of job "a8" is missing'),
    ],
)
def test_a_decorator_that_was_called_wrongly_is_reported_as_such(
    tmp_path: Path, decorator: str, code: str, message: str
) -> None:
    source = f"from nsplugin.cogover import define_job\n\n\n{decorator}\ndef tidy():\n    pass\n\n\njobs = [tidy]\n"
    (tmp_path / "nsplugin.toml").write_text('platform = "cogover"\nid = "tidy"\n', encoding="utf-8")
    _, report, _ = build(tmp_path, source)
    found = {item["code"]: item["message"] for item in report["diagnostics"]}
    assert found[code] == message
    assert "NSP003" not in found


@pytest.mark.parametrize("names", ["['len']", "[n for n in vars(builtins) if n[0] != '_']", "list(vars(builtins))"])
def test_a_plugin_that_deletes_the_built_in_names(tmp_path: Path, names: str) -> None:
    _, report, err = build(tmp_path, DEFINITION + f"import builtins\nfor n in {names}: delattr(builtins, n)\n")
    assert {code for code, _ in findings(report)} <= {"NSP003"}
    assert "Traceback" not in err
