"""The project file: what it may hold, and how a mistake in it is shown (spec/cli.md Project file)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import fixture_runs
import nsplugin_schemas
from nsplugin_cli import project, project_keys

PLUGIN = 'from nsplugin import Job, define_plugin\n\nplugin = define_plugin(jobs={"a": Job(lambda: None)})\n'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plugin.py").write_text(PLUGIN)


def build(text: str | bytes, name: str = "nsplugin.toml") -> tuple[int, dict[str, Any]]:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = fixture_runs.call(["build", "--format", "json"])
    assert out, err
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ('id = "a"\nplatfrom = "nextskin"\n', (2, 1, 9), "there is no key `platfrom`", "did you mean `platform`?"),
        ('id = "a"\nzzz = 1\n', (2, 1, 4), "there is no key `zzz`", "the keys are platform, id,"),
        (
            'platform = "k8s"\n',
            (1, 12, 17),
            '`platform` is the string "k8s", which is no platform',
            "the platforms are nextskin and cogover",
        ),
        ("id = 5 # five\n", (1, 6, 7), "`id` must be a string that is not empty, not the integer 5", None),
        (f'version = "{"1" * 200_000}"\n', (1, 11, 200_013), "`version` has 200,000 characters: it may have 1000", None),
        (f'entry = "{"a" * 2_000}:x"\n', (1, 9, 2_013), "`entry` has 2,002 characters: it may have 1000", None),
        ('version = ""\n', (1, 11, 13), '`version` must be a string that is not empty, not the string ""', None),
        ('entry = "a/b:c d"\n', (1, 9, 18), '`entry` is the string "a/b:c d", which names no entry', "write a file"),
        ('timezone = "europe/berlin"\n', (1, 12, 27), "`timezone` is no time zone: ", "Europe/Berlin"),
        ('select = "NSP1"\n', (1, 10, 16), "`select` must be a list of rule codes", 'for example ["NSP101", "NSP2"]'),
        ('ignore = ["NSP1", "E501"]\n', (1, 19, 25), '`ignore` names the string "E501", which is no rule', "`nsplugin rules`"),
        ('select = ["NSP999"]\n', (1, 11, 19), '`select` names the string "NSP999"', "in NSP9 are NSP901 needless-ignore"),
        ('select = [\n  "NSP2", # "NSP2O7"\n  "NSP2O7",\n]\n', (3, 3, 11), '"NSP2O7", which is no rule', "mean NSP207?"),
        ("ignore = ['cron-syntx']\n", (1, 11, 23), '"cron-syntx", which is no rule', "did you mean cron-syntax?"),
        ('ignore = [""]\n', (1, 11, 13), "which is no rule", "`nsplugin rules` lists them"),
        ('[per-file-ignores]\n"x" = ["NSP8"]\n', (2, 8, 14), '`per-file-ignores` names the string "NSP8"', "`nsplugin rules`"),
        ('per-file-ignores = {"x" = ["NSP8"]}\n', (1, 28, 34), '`per-file-ignores` names the string "NSP8"', None),
        (
            '[per-file-ignores]\n"x" = ["NSP2"]\n"!" = ["NSP1"]\n',
            (3, 1, 4),
            'names the string "!", which is no path',
            "legacy/*.py",
        ),
        ('per-file-ignores = {"[z-a]" = ["NSP1"]}\n', (1, 21, 28), '"[z-a]", which is no path pattern', "for example {"),
        ("per-file-ignores = 1\n", (1, 20, 21), "`per-file-ignores` must be a table of path patterns", None),
        ('[per-file-ignores]\n"x" = [1]\n', (1, 1, 19), "`per-file-ignores` must be a list of rule codes", None),
        ('id = "a"\nid = "b"\n', (2, 9, 10), "it is not valid TOML: ", None),
        ('id = "a\n', (1, 8, 9), "it is not valid TOML: ", None),
        (b'id = "\xff"\n', (1, 1, 2), "it is not UTF-8, which TOML must be", None),
        (b"a = " + b"[" * 100_000, (None, None, None), "it is nested too deeply", None),
        ("id = " + "9" * 4_301 + "\n", (None, None, None), "it holds a number of more digits than can be read", None),
        ("id = 0x" + "f" * 9_000 + "\n", (1, 6, 9_008), "not the integer of about 10838 digits", None),
        (b"#" * (1 << 20) + b"\n", (None, None, None), "it is larger than 1 MiB", None),
    ],
)
def test_a_mistake_is_shown_at_its_place_and_exits_with_2(
    text: str | bytes, place: tuple[int | None, ...], message: str, hint: str | None
) -> None:
    code, report = build(text)
    (finding,) = report["diagnostics"]
    assert (code, finding["code"], finding["path"]) == (2, "NSP001", "nsplugin.toml")
    assert message in finding["message"]
    assert (hint or "") in (finding["hint"] or "")
    assert tuple(finding[key] for key in ("line", "column", "endColumn")) == place
    assert not Path("dist").exists()


def test_every_mistake_is_shown_in_one_run() -> None:
    code, report = build('platfrom = "x"\nid = 1\nversion = 2\n')
    assert (code, [finding["line"] for finding in report["diagnostics"]]) == (2, [1, 2, 3])


def test_a_mistake_in_pyproject_is_shown_in_our_table() -> None:
    text = "[project]\nid = 1\n\n[tool.nsplugin]\nid = 2\n\n[tool.other]\nid = 3\n"
    _, report = build(text, "pyproject.toml")
    (finding,) = report["diagnostics"]
    assert (finding["path"], finding["line"], finding["column"]) == ("pyproject.toml", 5, 6)


def test_a_pyproject_that_does_not_parse_is_shown_when_it_has_our_table() -> None:
    code, report = build('[tool.nsplugin]\nid = "a\n', "pyproject.toml")
    assert (code, report["diagnostics"][0]["path"]) == (2, "pyproject.toml")


@pytest.mark.parametrize("number", ["9" * 4_301, "[" * 100_000])
def test_a_pyproject_that_is_not_ours_may_hold_what_cannot_be_read(number: str) -> None:
    text = f"# nsplugin\nx = {number}\n"
    code, report = build(text, "pyproject.toml")
    assert (code, [each["path"] for each in report["diagnostics"]]) == (1, ["plugin.py"])
    code, report = build(f"{text}[tool.nsplugin]\n", "pyproject.toml")
    assert (code, [each["path"] for each in report["diagnostics"]]) == (2, ["pyproject.toml"])


def test_beyond_a_hundred_mistakes_of_a_kind_one_says_so() -> None:
    codes = ", ".join(f'"NSP{number}"' for number in range(1000, 1101))
    config = "".join(f"k{number} = 1\n" for number in range(101)) + f"ignore = [{codes}]\n"
    messages = [finding["message"] for finding in build("platform = 5\n" + config)[1]["diagnostics"]]
    assert len(messages) == 100 + 1 + 100 + 1 + 1
    assert messages.count("there are more than 100 faults in this value") == 2
    assert any(message.startswith("`platform` ") for message in messages)


def test_a_byte_order_mark_and_windows_line_ends_are_no_mistake() -> None:
    code, report = build(b'\xef\xbb\xbfid = "a"\r\nplatform = "nextskin"\r\n')
    assert (code, report["plugins"][0]["id"]) == (0, "a")


def test_id_and_version_in_both_places_must_agree() -> None:
    Path("plugin.py").write_text(PLUGIN.replace("define_plugin(jobs", 'define_plugin(id="b", jobs'))
    code, report = build('id = "a"\n')
    (finding,) = report["diagnostics"]
    assert (code, finding["code"]) == (2, "NSP001")


def test_the_keys_are_those_of_the_published_schema() -> None:
    assert list(nsplugin_schemas.load("config")["properties"]) == list(project_keys.KEYS)


def test_the_nearest_project_file_counts(tmp_path: Path) -> None:
    Path("nsplugin.toml").write_text('id = "outer"\n')
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    (inner.parent / "pyproject.toml").write_text("[tool.other]\n")
    found = project.find(inner)
    assert found is not None and found.get("id") == "outer"
    (inner.parent / "pyproject.toml").write_text('[tool.nsplugin]\nid = "inner"\n')
    found = project.find(inner)
    assert found is not None and found.get("id") == "inner"


HOSTILE = {
    "blanks in a value": 'id = "a"\nbogus = ["x",' + " " * 500_000 + "1]\n",
    "blanks before the equals sign": "bogus" + " " * 500_000 + "= 1\n",
    "line feeds and broken": "# nsplugin" + "\n" * 500_000 + "= [\n",
    "unknown keys": "".join(f"bogus{number} = 1\n" for number in range(80_000)),
    "unknown codes": "select = [" + ", ".join(f'"X{number}"' for number in range(15_000)) + "]\n",
    "a long unknown key": "a" * 1_000_000 + " = 1\n",
    "tables": "".join(f"[a{number}]\n" for number in range(20_000)),
    "quotes": "select = [" + '"\'", ' * 100_000 + "]\n",
}


@pytest.mark.parametrize("name", project.FILE_NAMES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_megabyte_of_project_file_is_judged_in_good_time(kind: str, name: str) -> None:
    header = "" if name == "nsplugin.toml" else "[tool.nsplugin]\n" if "broken" not in kind else ""
    Path(name).write_text(header + HOSTILE[kind])
    before = time.process_time()
    project.at(Path())
    assert time.process_time() - before < 10
