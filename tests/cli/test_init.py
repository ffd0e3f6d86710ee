"""``init``: a plugin repository that works at once (spec/cli.md)."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import developing
import fixture_runs
from nsplugin.platforms import NAMES
from nsplugin.testing import Bench
from service_world import NSPLUGIN
from waiting import until


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=NAMES)
def made(request: pytest.FixtureRequest) -> Path:
    code, _, err = fixture_runs.call(["init", "my plugin", "--platform", request.param])
    assert (code, err) == (0, "")
    return Path("my plugin")


def test_what_is_made_builds_and_checks_at_once(made: Path) -> None:
    code, out, _ = fixture_runs.call(["build", str(made), "--format", "json"])
    report = json.loads(out)
    assert (code, report["diagnostics"], report["plugins"][0]["id"]) == (0, [], "my-plugin")
    manifest = report["plugins"][0]["manifest"]
    code, out, _ = fixture_runs.call(["check", manifest, "--timezone", "UTC", "--format", "json"])
    assert (code, json.loads(out)["diagnostics"]) == (0, [])


def test_what_is_made_lints_clean(made: Path) -> None:
    code, out, _ = fixture_runs.call(["lint", str(made), "--strict", "--no-cache"])
    assert (code, out) == (0, f"No problems in {len(list(made.glob('*.py')))} files.\n")


def test_its_own_tests_pass_under_plain_pytest(made: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    (tests,) = made.glob("test_*.py")
    (passed,) = re.findall(r"^(\d+) passed in [\d.]+s$", done.stdout, re.MULTILINE)
    assert int(passed) >= tests.read_text(encoding="utf-8").count("def test_") >= 2, done.stdout


def test_its_source_is_formatted_and_linted(made: Path) -> None:
    for command in (["format", "--check"], ["check", "--isolated", "--select", "E,F,I,UP,B"]):
        subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--line-length", "120", str(made)], check=True, capture_output=True
        )


def test_every_way_that_it_meets_people_is_there(made: Path) -> None:
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    shared = {
        ".gitattributes",
        ".github/workflows/nsplugin.yml",
        ".gitignore",
        ".pre-commit-config.yaml",
        "README.md",
        "nsplugin.toml",
    }
    config = tomllib.loads((made / "nsplugin.toml").read_text())
    standins = {"standins.py"} if config["platform"] == "cogover" else set[str]()
    assert names == shared | standins | {config["entry"], f"test_{config['entry']}"}
    assert all("{{" not in (made / name).read_text() for name in names)
    assert _of_readme(made, "dev")
    for command in ("nsplugin lint", "nsplugin build", "nsplugin check", "pytest"):
        assert command in (made / "README.md").read_text()
        assert command in (made / ".github/workflows/nsplugin.yml").read_text()


def _of_readme(made: Path, command: str) -> list[str]:
    """The arguments that its README names for a command."""
    (line,) = re.findall(rf"^nsplugin ({command}\b.*)$", (made / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return shlex.split(line)


def test_its_jobs_succeed_as_its_readme_runs_them(made: Path) -> None:
    """Those that schedules start and the others, on a week of virtual time."""
    given = {"plugin.py": ['expire={"key": "a"}'], "main.py": ["recalc_totals"]}
    enqueued = given[tomllib.loads((made / "nsplugin.toml").read_text())["entry"]]
    command = [*NSPLUGIN, *_of_readme(made, "simulate"), "--format", "json", *(f"--enqueue={each}" for each in enqueued)]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert (summary["attempts"], summary["succeeded"], summary["deadLetters"]) == (8, 8, 0)


def test_its_jobs_succeed_under_dev_as_its_readme_runs_it(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    options = _of_readme(Path(), "dev")[1:]
    jobs = (
        {"expire": '{"key": "a"}'}
        if Path("plugin.py").exists()
        else dict.fromkeys(["recalc_totals", "cancel_stale_orders"], "{}")
    )
    with developing.running(Path.cwd(), *options) as dev:
        for job, payload in jobs.items():
            database = f"sqlite:///{Path.cwd() / '.nsplugin' / 'core.db'}"
            done = fixture_runs.call(["jobs", "enqueue", "my-plugin", job, "--payload", payload, "--database", database])
            assert done[0] == 0, done
        until(lambda: len(dev.events("success")) == len(jobs), "the tasks")
        assert not dev.events("failure") and dev.interrupt() == 0


def test_nothing_that_exists_is_overwritten() -> None:
    Path("a").mkdir()
    Path("a/plugin.py").write_text("mine")
    code, out, err = fixture_runs.call(["init", "a", "--platform", "nextskin"])
    assert (code, out) == (2, "")
    assert err == "Error: plugin.py already in a: nothing was written; name another folder\n"
    assert [path.name for path in Path("a").iterdir()] == ["plugin.py"]
    assert Path("a/plugin.py").read_text() == "mine"


def test_the_current_folder_is_the_default(tmp_path: Path) -> None:
    Path("LICENSE").write_text("mine")
    assert fixture_runs.call(["init", "--platform", "cogover", "--id", "orders"])[0] == 0
    assert tomllib.loads(Path("nsplugin.toml").read_text())["id"] == "orders"


@pytest.mark.parametrize("name", ["日本", "...", "x" * 200, "a..b__c"])
def test_every_folder_name_gives_an_id_that_builds(name: str) -> None:
    assert fixture_runs.call(["init", name, "--platform", "nextskin"])[0] == 0
    assert fixture_runs.call(["build", name])[0] == 0


def test_a_folder_that_cannot_be_made() -> None:
    Path("file").write_text("")
    code, _, err = fixture_runs.call(["init", "file/inner", "--platform", "nextskin"])
    assert code == 2
    assert "file" in err and "Traceback" not in err


@pytest.mark.parametrize(
    "body", ["", "key=a", "\xff", "[]", "{}", '{"key": 5}', '{"key": " a"}', json.dumps({"key": "a" * 256})]
)
def test_the_route_that_is_made_refuses_what_the_job_does_not_take(body: str) -> None:
    """An author's first request by hand is seldom right; it is the caller's fault then, and says what to send."""
    assert fixture_runs.call(["init", "made", "--platform", "nextskin"])[0] == 0
    plugin = runpy.run_path("made/plugin.py")["plugin"]
    answer = Bench(target=plugin).request("POST /expire", body=body.encode("latin-1"))
    told = 'send JSON such as {"key": "a"}; keys have letters, digits, ._:/-'
    assert (answer.status, json.loads(answer.body)) == (400, {"error": told})
