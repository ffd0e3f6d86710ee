"""The cache: content-addressed, never stale, safe under two processes, indifferent to damage."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lint_world import findings, lint, plugin, write
from nsplugin_cli.lint import cache, examining

NEVER = plugin("0 3 30 2 *")
IMPORTING = plugin().replace('"0 3 * * *"', "WHEN").replace("from nsplugin", "from times import WHEN\nfrom nsplugin")
FOUND = ["plugin.py:9:72 NSP207"]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were judged anew, by name."""
    names: list[str] = []
    examine = examining.examine

    def noted(task: examining.Task, data: bytes) -> examining.Verdict:
        names.append(Path(task.path).name)
        return examine(task, data)

    monkeypatch.setattr("nsplugin_cli.lint.workers.examine", noted)
    return names


def test_the_second_run_judges_nothing_and_says_the_same(tmp_path: Path, judged: list[str]) -> None:
    write(tmp_path, a_py=NEVER, b__c_py=plugin(), d_ts="definePlugin({})", work_py="def f(")
    first = [lint(tmp_path), lint(tmp_path, "--format", "sarif")]
    write(tmp_path, more_py="x = 1\n")  # so that the pack is written again, and all that was read from it
    first = [lint(tmp_path), lint(tmp_path, "--format", "sarif")]
    assert sorted(judged) == ["a.py", "c.py", "d.ts", "more.py", "work.py"]
    assert [lint(tmp_path), lint(tmp_path, "--format", "sarif")] == first
    assert len(judged) == 5


def test_no_cache_neither_reads_nor_writes(tmp_path: Path, judged: list[str]) -> None:
    write(tmp_path, a_py=NEVER)
    lint(tmp_path, "--no-cache")
    assert not (tmp_path / cache.FOLDER).exists()
    lint(tmp_path)
    lint(tmp_path, "--no-cache")
    assert judged == ["a.py"] * 3


def test_it_keeps_itself_out_of_repositories_and_backups(tmp_path: Path) -> None:
    lint(write(tmp_path, a_py=NEVER))
    assert (tmp_path / cache.FOLDER / ".gitignore").read_text() == "*\n"
    assert (tmp_path / cache.FOLDER / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_it_lies_in_the_root_of_the_repository(tmp_path: Path) -> None:
    write(tmp_path, sub__deep__a_py=NEVER)
    (tmp_path / ".git").mkdir()
    lint(tmp_path / "sub" / "deep")
    assert (tmp_path / cache.FOLDER).is_dir() and not (tmp_path / "sub" / "deep" / cache.FOLDER).exists()


def test_other_bytes_of_the_same_size_and_time_are_other_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, plugin_py=plugin("0 3 28 2 *")) / "plugin.py"
    before = path.stat()
    assert findings(tmp_path) == []
    path.write_text(plugin("0 3 30 2 *"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert findings(tmp_path) == ["plugin.py:8:72 NSP207"]


def test_a_verdict_rests_on_what_was_imported(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=IMPORTING)
    assert findings(tmp_path) == []
    write(tmp_path, times_py='WHEN = "0 3 30 2 *"\n')
    assert findings(tmp_path) == FOUND, "a module that was absent is there now"
    write(tmp_path, times_py='WHEN = "0 3 28 2 *"\n')
    assert findings(tmp_path) == []
    write(tmp_path, times_py="from more import WHEN\n", more_py='WHEN = "0 3 30 2 *"\n')
    assert findings(tmp_path) == FOUND
    write(tmp_path, more_py='WHEN = "0 3 1 2 *"\n')
    assert findings(tmp_path) == []
    (tmp_path / "times").mkdir()
    (tmp_path / "times" / "__init__.py").write_text('WHEN = "0 3 31 6 *"\n')
    assert findings(tmp_path) == FOUND, "a package goes before a module"
    shutil.rmtree(tmp_path / "times")
    (tmp_path / "times.py").unlink()
    assert findings(tmp_path) == []


def test_a_verdict_rests_on_the_imports_of_typescript(tmp_path: Path) -> None:
    source = "import {definePlugin} from '@nextskin/plugin-sdk'\nimport {WHEN} from './times'\nexport default definePlugin("
    write(tmp_path, plugin_ts=source + "{ jobs: { a: { handler() {} } }, cron: [{ schedule: WHEN, job: 'a' }] })\n")
    assert findings(tmp_path) == []
    write(tmp_path, times_js="export const WHEN = '0 3 30 2 *'\n")
    assert [each.split()[1] for each in findings(tmp_path)] == ["NSP207"]
    write(tmp_path, times_ts="export const WHEN = '0 3 * * *'\n")
    assert findings(tmp_path) == []


def test_a_verdict_rests_on_the_project_file(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin("30 2 * * *"))
    assert findings(tmp_path) == []
    write(tmp_path, nsplugin_toml='timezone = "America/New_York"\n')
    assert len(findings(tmp_path)) == 1
    write(tmp_path, nsplugin_toml='timezone = "UTC"\n')
    assert findings(tmp_path) == []


def test_a_verdict_rests_on_the_tool(tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, plugin_py=plugin())
    lint(tmp_path)
    monkeypatch.setattr(cache, "fingerprint", lambda: "another version")
    lint(tmp_path)
    assert judged == ["plugin.py"] * 2


def test_the_fingerprint_changes_with_any_file_of_the_tool(tmp_path: Path) -> None:
    write(tmp_path, tool__inner__rule_py="X = 1\n")
    before = list(cache.stamps(str(tmp_path / "tool"), deep=True))
    write(tmp_path, tool__inner__rule_py="X = 12\n")
    assert list(cache.stamps(str(tmp_path / "tool"), deep=True)) != before


def test_a_repository_that_was_moved_keeps_its_verdicts(tmp_path: Path, judged: list[str]) -> None:
    write(tmp_path / "old", plugin_py=IMPORTING, times_py='WHEN = "0 3 30 2 *"\n')
    assert findings(tmp_path / "old") == FOUND
    (tmp_path / "old").rename(tmp_path / "new")
    assert findings(tmp_path / "new") == FOUND
    assert len(judged) == 2


DAMAGE = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a": [', b"[" * 100_000, b'{"plugin.py": 5}']


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_pack_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    write(tmp_path, plugin_py=NEVER)
    expected = findings(tmp_path)
    (pack,) = (tmp_path / cache.FOLDER).glob("lint-*/*")
    pack.write_bytes(damage)
    assert findings(tmp_path) == expected
    assert json.loads(pack.read_bytes()), "and is written anew"


WHOLE = {"code": "NSP207", "name": "cron-never-fires", "severity": "error", "pointer": "/cron/0", "message": "never"}
NONSENSE = [
    {**WHOLE, "message": 5},
    {**WHOLE, "severity": "fatal"},
    {**WHOLE, "severity": "warning"},
    {**WHOLE, "code": "207"},
    {**WHOLE, "code": "NSP999"},
    {**WHOLE, "code": "NSP206"},
    {**WHOLE, "name": "\x1b[2J"},
    {**WHOLE, "name": 5},
    {**WHOLE, "hint": ["a"]},
    {**WHOLE, "span": [1, 2, 3]},
    {**WHOLE, "span": ["a", 2, 3, 4]},
    {**WHOLE, "span": [0, 1, 0, 1]},
    {**WHOLE, "span": [1, 1, 1, 10**12]},
    {**WHOLE, "span": [2, 1, 1, 9]},
    {**WHOLE, "span": [2, 5, 2, 4]},
    {**WHOLE, "start": "a"},
    {**WHOLE, "path": "../../secret"},
    {**WHOLE, "path": "sub/../../secret"},
    {**WHOLE, "path": "/etc/passwd"},
    {**WHOLE, "path": 5},
]
ENTRIES = [
    None,
    5,
    [],
    [1, 2, 3, 4, 5],
    ["", 0, [{}], [], []],
    ["", 0, [{"code": 1}], [], []],
    *(["", 1, [each], [], [], None] for each in NONSENSE),
    ["", "one", [], [], [], None],
    ["", 1, [], [[[1, 1, 1, 9], [[5, [1, 1, 1, 9]]], None]], [], None],
    ["", 1, [], [[[1, 1, 1, 9], [["NSP207", [1, 1]]], None]], [], None],
    ["", 1, [], [[[1, 1, 1, 9], [], 5]], [], None],
    ["", 1, [], [[[1, 9, 1, 1], [], None]], [], None],
    ["", 1, [], [["abcd", [], None]], [], None],
    ["", 1, [], [], [["plugin.py", 5, None, None]], None],
    ["", 1, [], [], [[5, "times", None, None]], None],
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, entry: object) -> None:
    write(tmp_path, plugin_py=NEVER)
    expected = findings(tmp_path)
    (pack,) = (tmp_path / cache.FOLDER).glob("lint-*/*")
    pack.write_text(json.dumps(dict.fromkeys(json.loads(pack.read_text()), entry)))
    assert findings(tmp_path) == expected


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_a_wrong_entry_is_at_worst_wrong(tmp_path: Path, form: str) -> None:
    """A place beyond the file's end, a name of no target: whatever has the right types is reported as it is."""
    write(tmp_path, plugin_py=NEVER)
    lint(tmp_path)
    (pack,) = (tmp_path / cache.FOLDER).glob("lint-*/*")
    found = {**WHOLE, "span": [9_000, 70_000, 9_001, 3], "target": "x", "start": 90, "end": 1}
    pack.write_text(json.dumps({key: ["", 1, [found], [], [], None] for key in json.loads(pack.read_text())}))
    said = lint(tmp_path, "--format", form)
    assert (said.code, said.err) == (1, "") and "never" in said.out


def test_a_place_that_takes_no_cache_is_linted_all_the_same(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=NEVER)
    (tmp_path / cache.FOLDER).write_text("a file is in the way")
    assert findings(tmp_path) == ["plugin.py:8:72 NSP207"]


def test_several_processes_at_once(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"plugin_{number}.py").write_text(plugin("0 3 30 2 *" if number % 2 else "0 3 * * *"))
    command = [sys.executable, "-m", "nsplugin_cli", "lint", "--format", "json"]
    running = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(4)]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1 and json.loads(said.pop())["summary"] == {"files": 30, "errors": 15, "warnings": 0}
    assert [path.suffix for path in (tmp_path / cache.FOLDER).glob("lint-*/*")] == [".json"]
    assert len(findings(tmp_path)) == 15


def test_packs_of_older_versions_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, plugin_py=plugin())
    for version in "abcdef":
        monkeypatch.setattr(cache, "fingerprint", lambda version=version: version * 32)
        lint(tmp_path)
    assert sorted(path.name for path in (tmp_path / cache.FOLDER).glob("lint-*")) == [f"lint-{each * 32}" for each in "def"]


def _tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_link_in_the_place_of_the_cache_leads_to_nothing_written_or_deleted(tmp_path: Path) -> None:
    """git stores links: whoever sends a change for review can put one there."""
    write(tmp_path / "repo", plugin_py=NEVER)
    for version in "abcdef":
        write(tmp_path / "outside" / f"lint-{version * 32}", **{f"{version * 32}_json": "{}"})
    (tmp_path / "repo" / cache.FOLDER).symlink_to("../outside")
    before = _tree(tmp_path / "outside")
    assert findings(tmp_path / "repo") == ["plugin.py:8:72 NSP207"]
    assert _tree(tmp_path / "outside") == before


@pytest.mark.parametrize("there", ["precious", None])
@pytest.mark.parametrize("mark", [".gitignore", "CACHEDIR.TAG"])
def test_a_link_in_the_place_of_a_mark_is_left_alone(tmp_path: Path, mark: str, there: str | None) -> None:
    write(tmp_path / "repo", plugin_py=NEVER)
    victim = tmp_path / "victim"
    if there is not None:
        victim.write_text(there)
    (tmp_path / "repo" / cache.FOLDER).mkdir()
    (tmp_path / "repo" / cache.FOLDER / mark).symlink_to(victim)
    assert findings(tmp_path / "repo") == ["plugin.py:8:72 NSP207"]
    assert (victim.read_text() if victim.exists() else None) == there


def test_a_mark_that_somebody_changed_is_theirs(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=NEVER)
    write(tmp_path / cache.FOLDER, _gitignore="# ours\n")
    lint(tmp_path)
    assert (tmp_path / cache.FOLDER / ".gitignore").read_text() == "# ours\n"


def test_a_link_in_the_place_of_a_versions_folder_leads_to_nothing_written(tmp_path: Path) -> None:
    write(tmp_path / "repo", plugin_py=NEVER)
    (tmp_path / "outside").mkdir()
    (tmp_path / "repo" / cache.FOLDER).mkdir()
    (tmp_path / "repo" / cache.FOLDER / f"lint-{cache.fingerprint()}").symlink_to(tmp_path / "outside")
    assert findings(tmp_path / "repo") == ["plugin.py:8:72 NSP207"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_in_the_place_of_a_pack_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    """Not even a device that never ends is read."""
    write(tmp_path, plugin_py=NEVER)
    lint(tmp_path)
    (pack,) = (tmp_path / cache.FOLDER).glob("lint-*/*")
    pack.unlink()
    pack.symlink_to("/dev/zero")
    assert findings(tmp_path) == ["plugin.py:8:72 NSP207"]
    assert not pack.is_symlink() and json.loads(pack.read_bytes())


def test_only_folders_of_packs_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / cache.FOLDER
    write(tmp_path, plugin_py=plugin())
    write(folder, **{"lint-results__a_txt": "theirs", f"lint-{'0' * 32}__notes_txt": "theirs"})
    (folder / f"lint-{'1' * 32}").symlink_to(tmp_path)
    for version in "abcdef":
        monkeypatch.setattr(cache, "fingerprint", lambda version=version: version * 32)
        lint(tmp_path)
    names = ["lint-" + "0" * 32, "lint-" + "1" * 32, *(f"lint-{each * 32}" for each in "def"), "lint-results"]
    assert sorted(path.name for path in folder.glob("lint-*")) == names


def test_old_verdicts_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_VERDICTS", 3)
    for number in range(10):
        findings(write(tmp_path, plugin_py=plugin(f"{number} 3 * * *")))
    (pack,) = (tmp_path / cache.FOLDER).glob("lint-*/*")
    assert len(json.loads(pack.read_text())) == 3


def test_a_verdict_rests_on_where_the_project_file_says_it(tmp_path: Path) -> None:
    write(tmp_path, nsplugin_toml='id = "no id!"\n', plugin_py=plugin().replace('id="tidy", ', ""))
    (before,) = findings(tmp_path)
    write(tmp_path, nsplugin_toml='# moved\n\nid = "no id!"\n')
    (after,) = findings(tmp_path)
    assert [findings(tmp_path), findings(tmp_path, "--no-cache")] == [[after]] * 2
    assert before.split()[1] == after.split()[1] == "NSP110"


def test_a_verdict_rests_on_which_file_says_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, nsplugin_toml='id = "no id!"\n', sub__plugin_py=plugin().replace('id="tidy", ', ""))
    findings(tmp_path)
    (tmp_path / "nsplugin.toml").rename(tmp_path / "sub" / "nsplugin.toml")
    assert findings(tmp_path) == findings(tmp_path, "--no-cache")


SAYS = "from nsplugin.cogover import Schedule, define_job\n"
BERLIN = (
    SAYS + 'jobs = [define_job({"key": "a", "schedule": Schedule("30 2 * * *", timezone="Europe/Berlin")}, lambda: None)]\n'
)


@pytest.mark.parametrize(
    ("source", "config", "zone"),
    [
        (plugin("30 2 * * *"), 'timezone = "America/New_York"\n', "on 2026-03-08 on 2027-03-14"),
        (BERLIN, 'id = "a"\n', "on 2026-03-29 on 2027-03-28"),
    ],
)
def test_a_verdict_on_clock_changes_is_good_for_its_day(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch, source: str, config: str, zone: str
) -> None:
    """NSP210 names the next change from today, as build does; the next day it may be another."""
    before, later = zone[:13], zone[14:]
    write(tmp_path, plugin_py=source, nsplugin_toml=config, other_py="x = 1\n")
    monkeypatch.setattr("time.time", lambda: 1_772_668_800.0 + 3600)  # 2026-03-05 01:00
    assert before in lint(tmp_path).out
    monkeypatch.setattr("time.time", lambda: 1_772_668_800.0 + 86_399)
    assert before in lint(tmp_path).out
    assert sorted(judged) == ["other.py", "plugin.py"]
    monkeypatch.setattr("time.time", lambda: 1_775_347_200.0)  # 2026-04-05
    assert later in lint(tmp_path).out
    assert sorted(judged) == ["other.py", "plugin.py", "plugin.py"]
