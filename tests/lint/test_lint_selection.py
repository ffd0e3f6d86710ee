"""select, ignore, per-file-ignores, inline ignores, project files (spec/cli.md Project file)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_world import findings, lint, plugin, write

BAD = plugin("0 24 13 * 5")
NEVER = plugin("0 3 30 2 *")
OR = plugin("0 3 13 * 5")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path, one_py=OR, two_py=NEVER)


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ([], ["NSP209", "NSP207"]),
        (["--select", "NSP207"], ["NSP207"]),
        (["--select", "nsp207"], ["NSP207"]),
        (["--select", "cron-never-fires"], ["NSP207"]),
        (["--select", "NSP2"], ["NSP209", "NSP207"]),
        (["--select", "NSP1,NSP3"], []),
        (["--ignore", "cron-day-or , NSP3"], ["NSP207"]),
        (["--ignore", "NSP2"], []),
        (["--select", "NSP2", "--ignore", "NSP209"], ["NSP207"]),
        (["--select", "NSP209", "--ignore", "NSP2"], ["NSP209"]),
        (["--select", "NSP209", "--ignore", "NSP209"], []),
    ],
)
def test_the_longest_beginning_decides_and_ignore_a_draw(folder: Path, arguments: list[str], codes: list[str]) -> None:
    assert [each.split()[1] for each in findings(folder, *arguments)] == codes


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ("NSP2O7", "--select: no rule has the code or name 'NSP2O7'; did you mean NSP207?"),
        ("cron-never-fire", "--select: no rule has the code or name 'cron-never-fire'; did you mean cron-never-fires?"),
        ("NSP999", "--select: no rule has the code or name 'NSP999'; the rules in NSP9 are NSP901 needless-ignore"),
        ("E501", "--select: no rule has the code or name 'E501'; `nsplugin rules` lists them"),
    ],
)
def test_what_names_no_rule_is_a_wrong_call(folder: Path, item: str, says: str) -> None:
    said = lint(folder, "--select", item)
    assert (said.code, said.out, said.err) == (2, "", f"Error: {says}\n")


def test_the_project_file_selects_and_the_command_line_is_above_it(folder: Path) -> None:
    write(folder, nsplugin_toml='select = ["NSP209"]\nignore = ["NSP207"]\n')
    assert findings(folder) == ["one.py:8:72 NSP209"]
    assert findings(folder, "--select", "NSP2") == ["one.py:8:72 NSP209"]
    assert findings(folder, "--ignore", "cron-day-or") == []


def test_per_file_ignores_are_patterns_from_the_project_files_folder(tmp_path: Path) -> None:
    toml = '[tool.nsplugin.per-file-ignores]\n"legacy/*.py" = ["NSP2"]\n"old.py" = ["cron-never-fires"]\n'
    write(tmp_path, pyproject_toml=toml, legacy__a_py=NEVER, legacy__deep__b_py=NEVER, new__old_py=NEVER, new__c_py=NEVER)
    assert findings(tmp_path) == ["legacy/deep/b.py:8:72 NSP207", "new/c.py:8:72 NSP207"]
    assert findings(tmp_path / "new") == ["c.py:8:72 NSP207"]


def test_in_a_monorepo_the_nearest_project_file_counts_for_each_file(tmp_path: Path) -> None:
    write(tmp_path, nsplugin_toml='ignore = ["NSP2"]\n', a__nsplugin_toml="", a__src__x_py=NEVER, b__x_py=NEVER)
    write(tmp_path, c__pyproject_toml="[tool.other]\n", c__x_py=NEVER)
    assert findings(tmp_path) == ["a/src/x.py:8:72 NSP207"]


def test_the_project_files_identity_and_time_zone_reach_the_rules(tmp_path: Path) -> None:
    anonymous = plugin("30 2 * * *").replace('id="tidy", ', "")
    write(tmp_path, plugin_py=anonymous)
    assert findings(tmp_path) == ["plugin.py:8:10 NSP008"]
    write(tmp_path, nsplugin_toml='id = "tidy"\ntimezone = "America/New_York"\n')
    assert findings(tmp_path) == ["plugin.py:8:61 NSP210"]


def test_a_faulty_project_file_is_one_finding_each_fault_and_exit_code_two(tmp_path: Path) -> None:
    write(tmp_path, nsplugin_toml='ingore = ["NSP2"]\n', plugin_py=NEVER)
    said = lint(tmp_path, "--select", "NSP1")
    assert (said.code, said.codes) == (2, ["nsplugin.toml:1:1 NSP001"])
    assert "hint: did you mean `ignore`?" in said.out


def test_a_rule_that_does_not_exist_in_the_project_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, nsplugin_toml='ignore = ["NSP999"]\n', plugin_py=NEVER)
    said = lint(tmp_path)
    assert (said.code, said.codes[0]) == (2, "nsplugin.toml:1:11 NSP001")
    assert '`ignore` names the string "NSP999", which is no rule' in said.out


def test_strict_makes_warnings_count(folder: Path) -> None:
    assert lint(folder, "--select", "NSP209").code == 0
    assert lint(folder, "--select", "NSP209", "--strict").code == 1


IGNORED = OR.replace('job="tidy")])', 'job="tidy")])  # nsplugin: ignore[NSP209]')


def test_an_ignore_silences_its_line_and_a_needless_one_is_reported(tmp_path: Path) -> None:
    write(tmp_path, a_py=IGNORED, b_py=plugin().replace("\n\n\nasync", "  # nsplugin: ignore[NSP209]\n\n\nasync"))
    assert findings(tmp_path) == ["b.py:1:76 NSP901"]
    assert findings(tmp_path, "--ignore", "needless-ignore") == []


def test_an_ignore_of_a_rule_that_is_not_selected_is_not_needless(tmp_path: Path) -> None:
    write(tmp_path, a_py=IGNORED)
    assert findings(tmp_path, "--select", "NSP1,NSP9") == []


@pytest.mark.parametrize("written", ["cron-day-or", "NSP2", "nsp209"])
def test_an_ignore_takes_what_the_project_file_takes(tmp_path: Path, written: str) -> None:
    write(tmp_path, a_py=IGNORED.replace("NSP209", written), b_py=NEVER.replace(")])", f")])  # nsplugin: ignore[{written}]"))
    of_another_rule = [] if written == "NSP2" else ["b.py:8:72 NSP207", "b.py:8:120 NSP901"]
    assert findings(tmp_path) == of_another_rule


MODULE = "async def more(ctx):\n    await ctx.jobs.enqueue('nothing')  # nsplugin: ignore[NSP304]\n"
ENTRY = plugin().replace("from nsplugin", "from work import more\nfrom nsplugin").replace("ctx.log.info(", "await more(ctx, ")


def test_findings_in_an_imported_module_are_silenced_there(tmp_path: Path) -> None:
    write(tmp_path, entry_py=ENTRY, work_py=MODULE.replace("  # nsplugin: ignore[NSP304]", ""))
    assert findings(tmp_path) == ["work.py:2:28 NSP304"]
    assert findings(tmp_path, "entry.py") == ["work.py:2:28 NSP304"]
    write(tmp_path, work_py=MODULE)
    assert findings(tmp_path) == []
    assert findings(tmp_path, "entry.py") == []
    assert findings(tmp_path, "work.py") == []


def test_statistics_count_instead_of_listing(tmp_path: Path) -> None:
    write(tmp_path, a_py=NEVER, b_py=NEVER, c_py=OR)
    assert lint(tmp_path, "--statistics").out == (
        "      2  NSP207  error    cron-never-fires\n      1  NSP209  warning  cron-day-or\n2 errors, 1 warning in 3 files.\n"
    )
    assert '"statistics": [\n    {\n      "code": "NSP207",' in lint(tmp_path, "--statistics", "--format", "json").out
    assert lint(tmp_path, "--statistics", "--format", "sarif").code == 2


def test_an_ignore_hides_the_use_on_its_line_and_no_other(tmp_path: Path) -> None:
    uses = 'await ctx.kv.get("a")  # nsplugin: ignore[NSP501]\n    await ctx.kv.get("b")'
    write(tmp_path, plugin_py=plugin().replace('ctx.log.info("tidied")', uses))
    assert findings(tmp_path) == ["plugin.py:6:11 NSP501"]
