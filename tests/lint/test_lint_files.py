"""Which files are read, and what becomes of those that cannot be."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixture_runs import call
from lint_world import findings, lint, plugin, write
from nsplugin_cli.lint import watching

NEVER = plugin("0 3 30 2 *")
AT = ":8:72 NSP207"


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, a_py=NEVER, out__b_py=NEVER, gen__c_py=NEVER, gen__keep_py=NEVER, sub__d_py=NEVER, sub__e_py=NEVER)
    (tmp_path / ".gitignore").write_text("/out/\ngen/*\n!gen/keep.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("d.py\n")
    assert findings(tmp_path) == [f"a.py{AT}", f"gen/keep.py{AT}", f"sub/e.py{AT}"]
    assert findings(tmp_path / "sub") == [f"e.py{AT}"]
    assert findings(tmp_path, "sub/d.py") == [f"sub/d.py{AT}"], "a file that is named is read"


def test_the_ignores_above_count_up_to_the_repositorys_root(tmp_path: Path) -> None:
    write(tmp_path, repo__pkg__a_py=NEVER, repo__pkg__b_py=NEVER)
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / ".gitignore").write_text("pkg/b.py\n")
    assert findings(tmp_path / "repo" / "pkg") == [f"a.py{AT}"]


def test_folders_of_others_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, node_modules__x__a_ts="definePlugin({", venv__a_py=NEVER, a_py=plugin())
    write(tmp_path / ".hidden", a_py=NEVER)
    (tmp_path / "types.d.ts").write_text("definePlugin({")
    assert lint(tmp_path).out == "No problems in 1 file.\n"


def test_each_file_counts_once_and_what_does_not_exist_is_a_wrong_call(tmp_path: Path) -> None:
    write(tmp_path, a_py=NEVER)
    assert len(findings(tmp_path, ".", "a.py", str(tmp_path / "a.py"), str(tmp_path))) == 1
    said = lint(tmp_path, "b.py")
    assert (said.code, said.err) == (2, "Error: there is no b.py\n")


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("binary.py", bytes(range(256)) * 40, "NSP003"),
        ("nul.py", b"x = 1\0\n", "NSP003"),
        ("huge.py", b"# " + b"x" * (3 << 20), "NSP003"),
        ("line.py", b"x = [" + b"1, " * 349_000 + b"]\n", None),
        ("nested.py", b"x = " + b"(" * 100_000 + b")" * 100_000, "NSP003"),
        ("lists.py", b"x = " + b"[" * 90 + b"]" * 90, None),
        ("chained.py", b"x = a" + b".b" * 100_000, "NSP003"),
        ("sum.py", b"x = 1" + b" + 1" * 100_000, "NSP003"),
        ("utf16.py", "x = 1".encode("utf-16"), "NSP003"),
        ("broken.py", b"def f(:\n", "NSP003"),
        ("cookie.py", b"# coding: nonsense\nx = 1\n", "NSP003"),
        ("empty.py", b"", None),
        ("binary.ts", b"definePlugin" + bytes(range(256)) * 40, "NSP003"),
        ("huge.ts", b"// definePlugin " + b"x" * (3 << 20), "NSP003"),
        ("line.ts", b"definePlugin; const x = [" + b"1, " * 340_000 + b"]\n", None),
        ("nested.ts", b"definePlugin; const x = " + b"(" * 100_000 + b"1" + b")" * 100_000, None),
        ("lists.ts", b"definePlugin; const x = " + b"[" * 100_000 + b"]" * 100_000, None),
        ("broken.ts", b"definePlugin({", "NSP003"),
        ("video.ts", b"G" + bytes(187), None),
        ("empty.ts", b"", None),
    ],
)
def test_a_bad_file_is_one_finding_and_the_run_goes_on(tmp_path: Path, name: str, data: bytes, code: str | None) -> None:
    write(tmp_path, z_py=NEVER)
    (tmp_path / name).write_bytes(data)
    found = findings(tmp_path)
    assert f"z.py{AT}" in found
    others = [each for each in found if not each.startswith("z.py")]
    assert [each.split()[1] for each in others] in ([code], []) if code is None else [code]
    assert len(others) == (code is not None)
    assert lint(tmp_path, "--no-cache").code == 1


def test_links_that_lead_round_or_nowhere(tmp_path: Path) -> None:
    write(tmp_path, a__a_py=NEVER)
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "self.py").symlink_to("self.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    said = lint(tmp_path)
    assert said.codes == ["a/a.py:8:72 NSP207"]
    assert sorted(said.err.splitlines()) == [
        "a/self.py was skipped: Too many levels of symbolic links",
        "gone.py was skipped: No such file or directory",
    ]


def test_what_is_no_file_is_skipped_and_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path, z_py=NEVER)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    said = lint(tmp_path)
    assert said.codes == ["z.py:8:72 NSP207"]
    assert said.err == "pipe.py was skipped: it is no regular file\n"


def test_a_file_that_cannot_be_opened_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a_py=NEVER, z_py=NEVER)
    opened = os.open

    def refuse(path: str, *more: int, **options: int) -> int:
        if str(path).endswith("a.py"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *more, **options)

    monkeypatch.setattr(os, "open", refuse)
    said = lint(tmp_path, "--no-cache")
    assert (said.codes, said.err) == (["z.py:8:72 NSP207"], "a.py was skipped: Permission denied\n")


def test_standard_input_has_a_name_that_counts(tmp_path: Path) -> None:
    write(tmp_path, nsplugin_toml="", pkg__times_py='WHEN = "0 3 30 2 *"\n')
    (tmp_path / "pkg" / "nsplugin.toml").write_text('ignore = ["NSP207"]\n')
    text = plugin().replace('"0 3 * * *"', "WHEN").replace("from nsplugin", "from times import WHEN\nfrom nsplugin").encode()
    assert lint(tmp_path, "-", stdin=text).out == "No problems in 1 file.\n"
    said = lint(tmp_path, "-", "--stdin-filename", "pkg/plugin.py", "--ignore", "NSP9", "--select", "NSP207", stdin=text)
    assert said.out == "No problems in 1 file.\n", "the project file beside it ignores the rule"
    (tmp_path / "pkg" / "nsplugin.toml").unlink()
    said = lint(tmp_path, "-", "--stdin-filename", "pkg/plugin.py", stdin=text)
    assert (said.code, said.codes) == (1, ["pkg/plugin.py:9:72 NSP207"])
    assert '9 | plugin = define_plugin(id="tidy"' in said.out


def test_many_files_in_processes_give_what_one_process_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        (tmp_path / f"p{number:03}.py").write_text(plugin(f"{number} 3 * * *"))
    monkeypatch.setattr("nsplugin_cli.lint.workers._cores", lambda: 1)
    alone = lint(tmp_path, "--no-cache", "--format", "json")
    monkeypatch.setattr("nsplugin_cli.lint.workers._cores", lambda: 3)
    assert lint(tmp_path, "--no-cache", "--format", "json") == alone
    assert len(findings(tmp_path, "--no-cache")) == 60


def test_a_typescript_repository_without_the_extra_gets_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("tree_sitter", "nsplugin_cli.source.typescript"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    write(tmp_path, a_ts="definePlugin({", b_ts="export const x = 1", c_tsx="defineJob({", z_py=NEVER)
    said = lint(tmp_path)
    assert (said.code, said.codes) == (2, ["z.py:8:72 NSP207"])
    assert said.err == '2 TypeScript files not read; to lint TypeScript: pip install "nsplugin[typescript]"\n'


def test_watch_lints_again_when_a_file_changes(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin())
    command = [sys.executable, "-u", "-m", "nsplugin_cli", "lint", "--watch"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "No problems in 1 file.\n"
            said = ""
            for attempt in range(50):  # the watch begins a moment after the first report
                (tmp_path / "plugin.py").write_text(NEVER + "\n" * attempt)
                said = _line_within(process, 1.0)
                if said:
                    break
            assert said == "plugin.py:8:72: error NSP207 cron-never-fires\n"
        finally:
            process.kill()


def _line_within(process: subprocess.Popen[str], seconds: float) -> str:
    import select

    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return process.stdout.readline() if ready else ""


@pytest.mark.parametrize("above", ["build", "dist", "venv", "node_modules", ".git", "shop"])
def test_watch_wakes_wherever_the_project_lies(above: str) -> None:
    root = Path("/home/u", above, "shop")
    assert watching.counts(root / "plugin.py", [root]) and watching.counts(root / "sub" / ".gitignore", [Path("/x"), root])
    assert not watching.counts(root / "dist" / "plugin.py", [root])
    assert not watching.counts(root / "notes.txt", [root])
    assert watching.counts(root / "dist" / "plugin.py", [root, root / "dist"]), "a folder that was named"


def test_watch_is_for_people_and_files(tmp_path: Path) -> None:
    assert lint(tmp_path, "--watch", "--format", "json").code == 2
    assert lint(tmp_path, "--watch", "-").code == 2


def test_what_another_file_says_is_shown_where_it_is_used(tmp_path: Path) -> None:
    write(tmp_path, jobs_ts="export const JOBS = { tidy: { maxAttempts: 50, handler() {} } }\n")
    source = "import { definePlugin } from '@nextskin/plugin-sdk'\nimport { JOBS } from './jobs'\n"
    write(tmp_path, plugin_ts=source + "export default definePlugin({\n  jobs: JOBS,\n})\n")
    assert findings(tmp_path) == ["plugin.ts:4:9 NSP104"]


NO_SOURCE = [("binary.ts", bytes(range(256)) * 4, "it is binary"), ("deep.ts", b"[" * 100_000, "it is nested too deeply")]


@pytest.mark.parametrize(("name", "data", "why"), NO_SOURCE)
def test_what_is_no_typescript_at_all_is_skipped_and_said_so(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert lint(tmp_path).err == f"{name} was skipped: {why}\n"
    assert lint(tmp_path, "-", "--stdin-filename", name, stdin=data).err == f"{name} was skipped: {why}\n"


def test_utf_16_is_one_finding_whatever_the_file_holds(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_bytes("const a = 1".encode("utf-16"))
    assert findings(tmp_path) == ["a.ts:1:1 NSP003"]


@pytest.mark.parametrize("data", ["// Größe\n".encode("latin-1"), b"const a = = 1\n", b"x" * (2 << 20), b"[[[]]]\n"])
def test_javascript_that_defines_nothing_is_no_concern_of_ours(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other.js").write_bytes(data)
    assert findings(tmp_path) == []


@pytest.mark.parametrize("paths", [("-", "a.py"), ("a.py", "-"), ("-", "-")])
def test_standard_input_is_judged_alone(tmp_path: Path, paths: tuple[str, ...]) -> None:
    write(tmp_path, a_py=plugin())
    said = lint(tmp_path, *paths, stdin=NEVER.encode())
    assert (said.code, said.out) == (2, "")
    assert said.err == "Error: - is standard input, and takes no other path beside it: lint the files in another call\n"


@pytest.mark.parametrize("line", ["!", "[z-a]", "a\\", "\\", "[[:alpha:]]"])
def test_a_line_that_is_no_pattern_is_left_out_as_in_git(tmp_path: Path, line: str) -> None:
    write(tmp_path, a_py=NEVER, b_py=NEVER)
    (tmp_path / ".gitignore").write_text(f"{line}\nb.py\n")
    said = lint(tmp_path)
    assert (said.codes, said.err) == ([f"a.py{AT}"], "")


@pytest.mark.parametrize("where", [".", "sub"])
def test_an_ignore_file_that_is_a_pipe_or_never_ends_is_as_good_as_none(tmp_path: Path, where: str) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "sub", a_py=NEVER)
    (tmp_path / ".gitignore").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "sub" / ".gitignore")
    assert [place.removeprefix("sub/") for place in findings(tmp_path / where)] == [f"a.py{AT}"]


def test_a_huge_ignore_file_counts_as_far_as_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, a_py=NEVER, b_py=NEVER)
    (tmp_path / ".gitignore").write_text("b.py\n#" + "x" * (2 << 20) + "\na.py\n")
    assert findings(tmp_path) == [f"a.py{AT}"]


def test_of_standard_input_no_more_is_read_than_of_a_file(tmp_path: Path) -> None:
    big = b"#" * (1 << 20) + b"\nx = 1\n"
    (tmp_path / "big.py").write_bytes(big)
    of_file, of_input = lint(tmp_path, "big.py"), lint(tmp_path, "-", stdin=big)
    assert of_input == (1, of_file.out.replace("big.py", "stdin.py"), "")
    refused = "Error: standard input has more than 1,048,576 bytes, the most that is read: nothing was mended\n"
    assert lint(tmp_path, "-", "--fix", stdin=big) == (2, "", refused)


def test_standard_input_that_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as endless:
        command = [sys.executable, "-m", "nsplugin_cli", "lint", "-"]
        done = subprocess.run(command, cwd=tmp_path, stdin=endless, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "this file has more than 1048576 bytes" in done.stdout


LONG = "a" * 300


@pytest.mark.parametrize(
    "line", [f"from {LONG} import x", f"import {LONG}", f"from .{LONG} import x", f"from a.{LONG}.b import c"]
)
def test_an_import_of_a_name_that_no_file_can_have_leads_nowhere(tmp_path: Path, line: str) -> None:
    source = NEVER.replace("from nsplugin", f"{line}\nfrom nsplugin")
    assert lint(write(tmp_path, plugin_py=source)).code == 1


def test_an_import_of_a_name_that_no_typescript_file_can_have_leads_nowhere(tmp_path: Path) -> None:
    source = f"import {{ definePlugin }} from '@nextskin/plugin-sdk'\nimport {{ JOBS }} from './{LONG}'\n"
    assert lint(write(tmp_path, plugin_ts=source + "export default definePlugin({ jobs: JOBS })\n")).code in (0, 1)


@pytest.mark.parametrize("entry", [f"{LONG}:x", f"{LONG}.py", f"a.{LONG}:plugin"])
def test_an_entry_that_no_file_can_have_is_missing(tmp_path: Path, entry: str) -> None:
    write(tmp_path, nsplugin_toml=f'entry = "{entry}"\n', plugin_py=plugin())
    for command in ("lint", "build"):
        with contextlib.chdir(tmp_path):
            code, out, err = call([command])
        assert code in (0, 1) and "nsplugin itself" not in err, (command, out, err)
        assert (".py" not in entry and command == "lint") or "NSP002" in out, (command, out)


@pytest.mark.parametrize(
    "arguments", [["install", LONG], ["install", ".", "--code", LONG], ["build", LONG], ["lint", LONG], ["check", LONG]]
)
def test_a_path_that_no_file_can_have_is_a_wrong_call(tmp_path: Path, arguments: list[str]) -> None:
    with contextlib.chdir(write(tmp_path, plugin_py=plugin())):
        code, out, err = call(arguments)
    assert (code, out) == (2, "") and "nsplugin itself" not in err


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Callable[[str, int], Path]]:
    """Makes so many folders of that name, one in the other, with a plugin.py at the bottom."""
    top = tmp_path / "chain"

    def make(name: str, count: int) -> Path:
        top.mkdir()
        with contextlib.chdir(top):
            for _ in range(count):
                Path(name).mkdir()
                os.chdir(name)
            Path("plugin.py").write_text(NEVER)
        return top

    yield make
    subprocess.run(["rm", "-rf", str(top)], check=True)  # Python's own way recurses


@pytest.mark.parametrize("command", [["lint"], ["lint", "--no-cache"], ["build", "--check"]])
def test_folders_may_be_nested_deeply(chain: Callable[[str, int], Path], command: list[str]) -> None:
    with contextlib.chdir(chain("d", 1_200)):
        code, out, err = call(command)
    assert (code, err) == (1, "")
    assert "d/plugin.py:8:72: error NSP207" in out


@pytest.mark.parametrize("command", ["lint", "build"])
def test_a_path_longer_than_the_system_takes_is_skipped_and_said_so(chain: Callable[[str, int], Path], command: str) -> None:
    top = chain("d" * 200, 30)
    with contextlib.chdir(write(top, a__plugin_py=NEVER)):
        code, out, err = call([command])
    assert code == 1 and "a/plugin.py:8:72: error NSP207" in out
    assert re.fullmatch(r"\S+ was skipped: File name too long\n", err)


@pytest.mark.parametrize("command", ["lint", "build"])
def test_folders_beyond_the_most_that_are_looked_at_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("nsplugin_cli.lint.files.MAX_FOLDERS", 2)
    monkeypatch.setattr("nsplugin_cli.source.discover.MAX_FOLDERS", 2)
    with contextlib.chdir(write(tmp_path, a__plugin_py=NEVER, b__plugin_py=NEVER, c__plugin_py=NEVER)):
        code, out, err = call([command])
    assert (code, out.count("NSP207 cron")) == (1, 1)
    assert err == "b was skipped: it and what follows it come after 2 folders, the most that are looked at\n"


def test_a_folder_that_may_not_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, locked__a_py=NEVER, z_py=NEVER)
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    said = lint(tmp_path, "--no-cache")
    assert (said.codes, said.err) == (["z.py:8:72 NSP207"], "locked was skipped: Permission denied\n")
