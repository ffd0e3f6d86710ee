"""What the child process reports of a plugin that makes this hard, and of our own failures in it (spec/cli.md exit codes)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_runs import call
from lint_world import plugin, write


def build(folder: Path, source: str, *options: str) -> tuple[int, str, str]:
    with contextlib.chdir(write(folder, plugin_py=source)):
        return call(["build", *options])


def findings(out: str) -> list[tuple[str, int | None, str]]:
    return [(each["code"], each["line"], each["message"]) for each in json.loads(out)["diagnostics"]]


def test_our_own_failure_in_the_child_is_a_bug_of_ours(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin())
    broken = "import nsplugin.definition.assembly as assembly\nassembly.assemble = None\n"
    write(tmp_path / "broken", sitecustomize_py=broken)
    command = [sys.executable, "-m", "nsplugin_cli", "build"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "broken")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("nsplugin itself failed: ChildError: Traceback (most recent call last):\n")
    assert "TypeError: 'NoneType' object is not callable" in done.stderr and "not in your plugin" in done.stderr


FAILS_LATER = {
    "an odd module attribute": "def __getattr__(name):\n    raise ValueError('odd')\n",
    "an odd class": "from nsplugin import Plugin\n\nclass Odd(Plugin):\n    __class__ = property(lambda self: 1 / 0)\n",
}


@pytest.mark.parametrize("source", FAILS_LATER.values(), ids=FAILS_LATER)
def test_what_fails_of_the_plugin_while_it_is_looked_at_is_the_authors(tmp_path: Path, source: str) -> None:
    code, out, err = build(tmp_path, source)
    assert (code, err) == (1, "") and "error NSP00" in out


SYNTAX = ["(__file__, 1, 'abc', 'x')", "(__file__, '1', 1, 'x')", "(__file__, 1, 1, 'x', 'a', [])", "(__file__, -5, 1, 'x')"]
SYNTAX += ["(5, 1, 1, 'x')", "(__file__, 10**5000, 1, 'x')", "(__file__, 1, 10**9, 'x')", "(__file__, True, 1, 'x')"]


@pytest.mark.parametrize("place", SYNTAX)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_syntax_error_with_odd_places_is_one_finding(tmp_path: Path, place: str, form: str) -> None:
    code, out, err = build(tmp_path, f"raise SyntaxError('odd', {place})\n", "--format", form)
    assert (code, err) == (1, "") and "odd" in out


@pytest.mark.parametrize(
    "source",
    [
        "import sys; sys.exit('x' * (40 << 20))",
        "raise SyntaxError('x' * (40 << 20))",
        "raise SyntaxError(['x'] * (4 << 20))",
        "raise ValueError('x' * (40 << 20))",
        "raise type('x' * (40 << 20), (Exception,), {})",
        "raise ModuleNotFoundError('x', name='x' * (40 << 20))",
        "raise ModuleNotFoundError('x', name=5)",
        "exec(compile('1 / 0', 'x' * (40 << 20), 'exec'))",
    ],
)
def test_an_exception_with_a_huge_text_is_one_finding_and_short(tmp_path: Path, source: str) -> None:
    code, out, err = build(tmp_path, source, "--format", "json")
    ((rule, line, message),) = findings(out)
    assert (code, err, rule, line) == (1, "", "NSP003", 1) and len(message) < 4_000


def test_a_definition_that_is_too_large_to_report_is_said_to_be(tmp_path: Path) -> None:
    loop = "for n in range(40): globals()['x' * (1 << 20) + str(n)] = define_plugin(id='a', jobs={})"
    source = f"from nsplugin import define_plugin\n{loop}\n"
    code, out, _ = build(tmp_path, source, "--format", "json")
    assert (code, [each[2] for each in findings(out)]) == (
        1,
        ["describing what the entry defines takes more than 32 MiB, the most that is read"],
    )


def test_bytes_that_are_no_text_count_as_bytes(tmp_path: Path) -> None:
    _, _, err = build(tmp_path, "import os\nos.write(1, b'\\xff' * 100_000)\n" + plugin())
    assert err.endswith("\n  … and 34,464 more bytes\n")
