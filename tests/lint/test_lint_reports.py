"""The formats of a report (spec/cli.md). Whole-file goldens; `make update` rewrites them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import report_goldens
from fixture_runs import call
from lint_world import lint, plugin, write
from nsplugin_cli import catalogue
from nsplugin_cli.diagnostic import Diagnostic, Report
from nsplugin_cli.report import FORMATS, renderer

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
NEVER = plugin("0 3 30 2 *")


@pytest.mark.parametrize(("path", "data"), [pytest.param(*pair, id=pair[0].name) for pair in report_goldens.files()])
def test_a_format_renders_as_its_golden_says(path: Path, data: bytes) -> None:
    assert data.decode() == path.read_bytes().decode()


def test_there_is_a_golden_for_every_format() -> None:
    assert report_goldens.ENDINGS.keys() == FORMATS.keys()


def sarif(report: Any) -> Any:
    return json.loads(renderer("sarif")(report))


@pytest.mark.parametrize("report", [report_goldens.report(), report_goldens.empty(), report_goldens.report(root=None)])
def test_sarif_is_valid_by_the_official_schema(report: Any) -> None:
    validator = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(sarif(report))] == []


def test_sarif_carries_every_rule_with_help() -> None:
    rules = sarif(report_goldens.empty())["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in catalogue.rules()]
    for rule, known in zip(rules, catalogue.rules(), strict=True):
        assert rule["defaultConfiguration"] == {"level": known.severity}
        assert known.bad.rstrip() in rule["help"]["text"] and known.good.rstrip() in rule["help"]["markdown"]


def results(folder: Path, *arguments: str) -> list[Any]:
    return json.loads(lint(folder, *arguments, "--format", "sarif").out)["runs"][0]["results"]


def place(result: Any) -> Any:
    return result["locations"][0]["physicalLocation"]["artifactLocation"]


def test_paths_are_relative_to_the_repository_also_from_a_subfolder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, packages__one__plugin_py=NEVER)
    expected = {"uri": "packages/one/plugin.py", "uriBaseId": "SRCROOT"}
    for folder, argument in (("", "."), ("packages", "one"), ("packages/one", "plugin.py"), ("packages/one", str(tmp_path))):
        (result,) = results(tmp_path / folder, argument)
        assert place(result) == expected
    inside = tmp_path / "packages" / "one"
    assert lint(inside, "--format", "github").out.startswith("::error file=packages/one/plugin.py,line=8,endLine=8,col=72,")
    assert 'file="packages/one/plugin.py"' in lint(inside, "--format", "junit").out
    assert lint(inside).codes == ["plugin.py:8:72 NSP207"], "a person sees paths from here"


def test_a_worktree_is_a_repository_too(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    write(tmp_path, deep__plugin_py=NEVER)
    assert place(results(tmp_path / "deep")[0])["uri"] == "deep/plugin.py"


def prints(folder: Path) -> list[str]:
    return [result["partialFingerprints"]["nsplugin/v1"] for result in results(folder, "--select", "NSP207")]


def test_fingerprints_survive_shifted_lines_and_differ_from_each_other(tmp_path: Path) -> None:
    twice = NEVER.replace(
        'cron=[Cron("0 3 30 2 *", job="tidy")]', 'cron=[Cron("0 3 30 2 *", job="tidy"), Cron("0 3 31 2 *", job="tidy")]'
    )
    write(tmp_path, plugin_py=twice)
    before = prints(tmp_path)
    assert len(set(before)) == 2
    write(tmp_path, plugin_py="# a comment\n\n\n" + twice)
    assert prints(tmp_path) == before
    write(tmp_path, plugin_py=twice.replace('id="tidy"', 'id="other"'))
    assert not set(prints(tmp_path)) & set(before)


def test_github_annotations_end_where_they_should() -> None:
    """A line each; what would end a command or a property is escaped as the runner's toolkit does."""
    lines = renderer("github")(report_goldens.report()).splitlines()
    assert len(lines) == 5
    pattern = re.compile(r"::(error|warning) (?:\w+=[^,:\n]*,)*\w+=[^,:\n]*::.*")
    assert all(pattern.fullmatch(line) for line in lines)


def test_junit_is_xml_that_counts_right() -> None:
    tree = ElementTree.fromstring(renderer("junit")(report_goldens.report()).encode())
    assert (tree.get("tests"), tree.get("failures")) == ("5", "4")
    assert len(tree.findall(".//testcase")) == 5 and len(tree.findall(".//failure")) == 4


def test_text_is_the_same_on_every_width(tmp_path: Path) -> None:
    """Nothing wraps by itself: a terminal of 80 and of 200 columns get the same characters."""
    write(tmp_path, plugin_py=NEVER.replace("\n\n\n", "\n" + "# " + "x" * 300 + "\n\n", 1).replace("tidy", "t" * 90))
    command = [sys.executable, "-m", "nsplugin_cli", "lint", "--no-cache", "--color"]
    said = {
        (
            color,
            subprocess.run([*command, color], cwd=tmp_path, capture_output=True, env={**os.environ, "COLUMNS": columns}).stdout,
        )
        for columns in ("80", "200")
        for color in ("always", "never")
    }
    assert len(said) == 2
    plain = {re.sub(rb"\x1b\[[0-9;]*m", b"", out) for _, out in said}
    assert len(plain) == 1


def _out_of(command: list[str], folder: Path, columns: str) -> bytes:
    return subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, "COLUMNS": columns}).stdout


@pytest.mark.parametrize("form", list(FORMATS))
def test_no_colour_in_a_pipe(tmp_path: Path, form: str) -> None:
    write(tmp_path, plugin_py=NEVER)
    assert "\x1b" not in lint(tmp_path, "--format", form).out


@pytest.mark.parametrize("form", list(FORMATS))
def test_build_and_check_have_the_same_formats(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, plugin_py=NEVER, bad_json='{"manifestVersion": 1}')
    monkeypatch.chdir(tmp_path)
    build = call(["build", "--format", form])
    assert (
        build[0] == 1
        and "NSP207" in build[1]
        and build[1].startswith(lint(tmp_path, "--format", form).out[:20].partition("plugin")[0])
    )
    check = call(["check", "bad.json", "--timezone", "UTC", "--format", form])
    assert check[0] == 1 and "NSP008" in check[1]


@pytest.mark.parametrize("line_end", ["\n", " "], ids=["a line each", "all on one line"])
@pytest.mark.parametrize("form", FORMATS)
def test_ten_thousand_findings_in_one_file_take_no_more_than_their_number(form: str, line_end: str) -> None:
    source = line_end.join(f'{{"schedule": "0 {number:>5} 99 * *", "job": "a"}}' for number in range(10_000))
    width = source.index("}") + 2
    places = ((number + 1, 15) if line_end == "\n" else (1, number * width + 15) for number in range(10_000))
    found = tuple(
        Diagnostic(
            code="NSP203",
            name="cron-value-out-of-range",
            severity="error",
            message="day 99 is out of range: 1–31",
            path="a.json",
            pointer=f"/cron/{at}/schedule",
            line=line,
            column=column,
            end_line=line,
            end_column=column + 2,
        )
        for at, (line, column) in enumerate(places)
    )
    report = Report(command="check", files=1, diagnostics=found, sources={"a.json": source}, folder="/r", root="/r")
    before = time.process_time()
    assert len(renderer(form)(report)) > 10_000
    assert time.process_time() - before < 4
