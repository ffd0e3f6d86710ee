"""What authors and hosts import: everything they need, nothing else, and quickly (spec/sdk.md)."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nsplugin
import nsplugin.cogover

PACKAGES = [nsplugin, nsplugin.cogover]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_resolves_and_is_documented(package: ModuleType) -> None:
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        value = getattr(package, name)
        if name != "Json":
            assert inspect.getdoc(value), name
            assert value.__module__.startswith("nsplugin."), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_type_checkers_and_the_interpreter_see_the_same_names(package: ModuleType) -> None:
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    checked = {alias.name: node.module for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert checked == package._PUBLIC
    assert sorted(checked) == sorted(package.__all__)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_other_names_are_attribute_errors(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nope'"):
        package.nope  # noqa: B018


def test_the_names_of_spec_sdk_are_there() -> None:
    assert {"Context", "Cron", "Job", "Request", "Response", "Route", "define_plugin", "check_manifest"} <= set(
        nsplugin.__all__
    )
    assert {"RetryableError", "Schedule", "define_job", "JobDefinition", "ValidationError"} <= set(nsplugin.cogover.__all__)


HEAVY = "{'pydantic', 'jsonschema', 'rich', 'click', 'croniter', 'asyncio', 'regex'}"


@pytest.mark.parametrize(
    "lines",
    [
        "import nsplugin, nsplugin.cogover",
        "from nsplugin import Context, Cron, Job, Request, Response, Route, define_plugin",
        "from nsplugin.cogover import JobContext, RetryableError, Schedule, define_job",
        "from nsplugin import Job, define_plugin; define_plugin(jobs={'a': Job(lambda payload: None)})",
        "from nsplugin.cogover import define_job; define_job({'key': 'a'}, lambda data: None)",
    ],
)
def test_importing_and_defining_is_light(lines: str) -> None:
    code = f"import sys; {lines}; heavy = {HEAVY} & set(sys.modules); assert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_importing_the_package_alone_imports_nothing_of_it() -> None:
    code = """
import sys, nsplugin
own = sorted(name for name in sys.modules if name.startswith("nsplugin"))
assert own == ["nsplugin", "nsplugin.lazy"], own
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_responses() -> None:
    response = nsplugin.Response.json({"queued": "đã xếp"}, status=202)
    assert (response.status, response.body, dict(response.headers)) == (
        202,
        '{"queued":"đã xếp"}'.encode(),
        {"content-type": "application/json"},
    )
    plain = nsplugin.Response.text("xin chào", headers={"X-A": "1"})
    assert (plain.body, plain.headers["x-a"]) == ("xin chào".encode(), "1")
    assert nsplugin.Response() == nsplugin.Response(b"", 200, {})
    with pytest.raises(AttributeError):
        response.status = 500


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nsplugin.Response(b"", 99), "a response's status is an integer from 100 to 599, not 99"),
        (lambda: nsplugin.Response(b"", True), "a response's status is an integer from 100 to 599, not True"),
        (lambda: nsplugin.Response({"a": 1}), "a response's body is bytes or text, not dict; see Response.json"),
        (lambda: nsplugin.Response.json(float("nan")), "Out of range float values are not JSON compliant"),
    ],
)
def test_bad_responses_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_authors_code_type_checks(tmp_path: Path) -> None:
    """The fixtures are written as an author would; mypy in strict mode accepts them, and not a misspelt argument."""
    good = [*Path(__file__).parents[2].glob("fixtures/good/*/*.py")]
    assert len(good) >= 5
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from nsplugin import Job\n\nJob(print, max_atempts=3)\n", encoding="utf-8")
    for files, code, text in [([file], 0, "Success") for file in good] + [([wrong], 1, "max_atempts")]:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *map(str, files)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
        )
        assert (done.returncode, text in done.stdout) == (code, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "meant"),
    [("job", "Job"), ("defineplugin", "define_plugin"), ("check_manifst", "check_manifest")],
)
def test_a_misspelt_public_name_is_told(name: str, meant: str) -> None:
    """The error says what was meant, as for everything an author writes (spec/sdk.md)."""
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': did you mean '{meant}'"):
        getattr(nsplugin, name)
