"""What build says of an entry, lint says too, as far as its source shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fixture_runs

HEAD = "from nsplugin import Job, define_plugin\n"
MADE = 'define_plugin(id="a", jobs={"tidy": Job(lambda: None)})\n'
JOB = 'from nsplugin.cogover import define_job\none = define_job({"key": "tidy"}, lambda: None)\n'


def said(command: str, *more: str) -> list[tuple[Any, ...]]:
    out = fixture_runs.call([command, *more, "--format", "json"])[1]
    keys = ("code", "message", "hint", "path", "pointer", "line", "column", "endLine", "endColumn")
    return [tuple(each[key] for key in keys) for each in json.loads(out)["diagnostics"]]


def of_both(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> tuple[list[Any], list[Any]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return said("build"), said("lint", "--no-cache")


SAME = {
    "NSP002 no such file": {"nsplugin.toml": 'entry = "plugn.py"\n', "plugin.py": HEAD + "plugin = " + MADE},
    "NSP002 and no source at all": {"nsplugin.toml": 'entry = "plugn.py"\n'},
    "NSP002 a folder": {"nsplugin.toml": 'entry = "plugin.py"\n', "plugin.py/x.txt": ""},
    "NSP004 another name": {"nsplugin.toml": 'id = "a"\n', "plugin.py": HEAD + "app = " + MADE},
    "NSP004 without a project file": {"plugin.py": HEAD + "app = " + MADE},
    "NSP004 in main.py": {"main.py": HEAD + "app = " + MADE},
    "NSP004 of one platform": {"nsplugin.toml": 'platform = "nextskin"\n', "plugin.py": HEAD + "jobs = " + MADE},
    "NSP004 named attribute": {"nsplugin.toml": 'entry = "plugin:app"\n', "plugin.py": HEAD + "plugin = " + MADE},
    "NSP004 nothing in it": {"nsplugin.toml": 'entry = "plugin.py"\n', "plugin.py": "x = 1\n"},
    "NSP004 another list": {"nsplugin.toml": 'platform = "cogover"\nid = "a"\n', "plugin.py": JOB + "mine = [one]\n"},
    "NSP004 in a package": {
        "nsplugin.toml": 'entry = "pkg.sub"\n',
        "pkg/__init__.py": "",
        "pkg/sub.py": HEAD + "app = " + MADE,
    },
    "NSP004 a mapping of jobs": {"plugin.py": JOB + 'jobs = {"one": one}\n'},
    "NSP004 a list of plugins": {"plugin.py": HEAD + "one = " + MADE + "plugin = [one]\n"},
    "NSP004 a number": {"nsplugin.toml": 'platform = "nextskin"\n', "plugin.py": HEAD + "plugin = 5\n"},
    "NSP004 a function": {"plugin.py": HEAD + "def f():\n    return " + MADE + "plugin = f\n"},
    "NSP004 below a guard": {"plugin.py": HEAD + "app = " + MADE + 'if __name__ == "__main__":\n    plugin = app\n'},
    "NSP001 version twice": {
        "nsplugin.toml": 'version = "2.0.0"\n',
        "plugin.py": HEAD + "plugin = " + MADE.replace("id=", 'version="1.0.0", id='),
    },
    "NSP001 id twice": {"nsplugin.toml": 'id = "b"\n', "plugin.py": HEAD + "plugin = " + MADE},
    "NSP001 in the project file": {"nsplugin.toml": "id = 5\n"},
}


@pytest.mark.parametrize("name", SAME)
def test_lint_says_of_an_entry_what_build_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, linted = of_both(tmp_path, monkeypatch, SAME[name])
    assert [each[0] for each in built] == [name.split()[0]]
    assert linted == built


NOT_KNOWN = {
    "an installed module": {"nsplugin.toml": 'entry = "elsewhere.pkg:app"\n', "plugin.py": ""},
    "a star": {"plugin.py": HEAD + "from impl import *\napp = " + MADE, "impl.py": "plugin = 5\n"},
    "globals": {"plugin.py": HEAD + "globals()['plugin'] = " + MADE + "app = 5\n"},
    "a function": {"plugin.py": HEAD + f"def f():\n    global plugin\n    plugin = {MADE}f()\napp = " + MADE},
    "__getattr__": {"plugin.py": HEAD + "app = " + MADE + "def __getattr__(name):\n    return app\n"},
    "setattr": {"plugin.py": HEAD + "import sys\napp = " + MADE + "setattr(sys.modules['plugin'], 'plugin', app)\n"},
    "a submodule": {
        "nsplugin.toml": 'entry = "pkg"\n',
        "pkg/__init__.py": HEAD + "from . import plugin as _\napp = " + MADE,
        "pkg/plugin.py": "",
    },
    "a list that was named": {"nsplugin.toml": 'entry = "plugin:plugin"\nid = "a"\n', "plugin.py": JOB + "plugin = [one]\n"},
    "a mapping that is filled": {
        "nsplugin.toml": 'id = "a"\n',
        "plugin.py": JOB + "jobs = {}\njobs['one'] = one\njobs = [one]\n",
    },
    "unknown jobs": {"plugin.py": HEAD + "def f(x):\n    return x\nplugin = define_plugin(id='a', jobs=f(open))\n"},
    "both names": {"plugin.py": HEAD + "jobs = {}\nplugin = " + MADE},
    "made by a function": {"plugin.py": HEAD + "def f():\n    return " + MADE + "plugin = f()\n"},
    "a condition": {"plugin.py": HEAD + "app = " + MADE + "import sys\nif sys:\n    plugin = app\n"},
    "deleted": {"plugin.py": HEAD + "plugin = " + MADE + "del plugin\n"},
    "an imported one": {"plugin.py": "from impl import plugin\n", "impl.py": HEAD + "plugin = " + MADE},
    "no plugin's main": {"main.py": "print('hello')\n"},
    "tests of definitions": {"plugin.py": HEAD + "plugin = " + MADE, "tests/plugin.py": "import nsplugin\n"},
    "another file of the project": {
        "nsplugin.toml": 'id = "a"\n',
        "plugin.py": HEAD + "plugin = " + MADE,
        "more.py": HEAD + 'x = define_plugin(id="b", jobs={})\n',
    },
    "TypeScript's entry": {"nsplugin.toml": 'entry = "plugin.ts"\n', "plugin.ts": "", "main.py": "import nsplugin\n"},
    "a version that is computed": {
        "nsplugin.toml": 'version = "2.0.0"\n',
        "plugin.py": HEAD + "import os\nplugin = " + MADE.replace("id=", 'version=os.environ.get("V", "2.0.0"), id='),
    },
    "a version given twice alike": {
        "nsplugin.toml": 'version = "2.0.0"\n',
        "plugin.py": HEAD + "plugin = " + MADE.replace("id=", 'version="2.0.0", id='),
    },
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_what_only_running_it_shows_is_no_finding(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, linted = of_both(tmp_path, monkeypatch, NOT_KNOWN[name])
    assert linted == []


COGOVER = "from nsplugin.cogover import define_job\n"
LISTS = {
    "a list beside": {
        "plugin.py": "from more import jobs as more\n" + COGOVER + 'jobs = [define_job({"key": "a"}, print), *more]\n',
        "more.py": COGOVER + 'jobs = [define_job({"key": "b"}, print)]\n',
    },
    "jobs one by one": {
        "plugin.py": "from more import one\nfrom lib.other import two\njobs = [one, two]\n",
        "more.py": COGOVER + 'one = define_job({"key": "b"}, print)\nall = [one]\n',
        "lib/other.py": "import plugin\n" + COGOVER + 'two = define_job({"key": "c"}, print)\nhere = [two]\n',
    },
    "the list itself": {
        "plugin.py": "from more import jobs\n",
        "more.py": COGOVER + 'jobs = [define_job({"key": "b"}, print)]\n',
    },
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("config", [{}, {"nsplugin.toml": 'platform = "cogover"\n'}])
def test_a_missing_id_is_one_finding(
    name: str, config: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    built, linted = of_both(tmp_path, monkeypatch, {**LISTS[name], **config})
    assert [each[:2] for each in linted] == [each[:2] for each in built] == [("NSP008", 'the manifest has no "id"')]


def test_projects_that_know_nothing_of_each_other_lack_an_id_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = COGOVER + 'jobs = [define_job({"key": "b"}, print)]\n'
    _, linted = of_both(tmp_path, monkeypatch, {"plugin.py": job, "other/plugin.py": job})
    assert [(each[0], each[3]) for each in linted] == [("NSP008", "other/plugin.py"), ("NSP008", "plugin.py")]


def test_a_project_file_that_is_named_is_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_both(tmp_path, monkeypatch, {"nsplugin.toml": 'entry = "plugn.py"\n', "plugin.py": "x = ("})
    assert [each[0] for each in said("lint", "nsplugin.toml")] == ["NSP002"]
    code, _, error = fixture_runs.call(["lint", "nsplugin.toml", "--ignore", "NSP002"])
    besides = "besides what git ignores, hidden folders, and such as build and dist"
    assert (code, error) == (0, f"there is no source to lint: no Python, TypeScript or JavaScript {besides}\n")


def test_a_kept_verdict_knows_what_the_entry_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project file is changed, the source is not."""
    (tmp_path / "plugin.py").write_text(HEAD + "app = " + MADE)
    (tmp_path / "nsplugin.toml").write_text('entry = "plugin:app"\n')
    monkeypatch.chdir(tmp_path)
    assert (said("lint"), said("lint")) == ([], [])
    (tmp_path / "nsplugin.toml").write_text('entry = "plugin.py"\n')
    assert [each[0] for each in said("lint")] == ["NSP004"]
    (tmp_path / "nsplugin.toml").write_text('entry = "plugin:app"\n')
    assert said("lint") == []


def test_a_missing_entry_can_be_ignored_like_any_other_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nsplugin.toml").write_text('entry = "plugn.py"\nignore = ["NSP002"]\n')
    monkeypatch.chdir(tmp_path)
    assert said("lint") == []
