"""``docs/hosts.md`` against the code: its example runs, its tables name what there is."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from dataclasses import fields
from pathlib import Path

from nsplugin.preinstall import MAX_COUNT, FireReport, Report, ScheduleReport, check_manifest

PAGE = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The names in the first column of the table that begins with that heading."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in table]


def test_the_example_runs_and_prints_a_fire() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(example, "docs/hosts.md", "exec"), {})
    (line,) = printed.getvalue().splitlines()
    assert re.fullmatch(r"30 2 \* \* \* at 02:30 every day \d{4}-\d\d-\d\d 0[23]:[03]0 E[SD]T", line)


def test_the_arguments_are_all_there() -> None:
    assert [name for (name,) in rows("argument")] == list(inspect.signature(check_manifest).parameters)
    shown = re.search(r"`check_manifest\((.*?)\) -> Report`", PAGE)
    assert shown is not None
    names = [part.split("=")[0].strip() for part in shown[1].split(",")]
    assert [name for name in names if name != "*"] == list(inspect.signature(check_manifest).parameters)
    assert f"0 to {MAX_COUNT}" in PAGE


def test_the_fields_are_all_there() -> None:
    named = [name for row in rows("field") for name in row]
    assert set(named) == {"ok", *(field.name for field in fields(Report))}
    for kind in (ScheduleReport, FireReport):
        assert all(f"`{field.name}`" in PAGE for field in fields(kind))


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    """spec/cli.md: 0 fine, 1 findings, 2 the call is wrong, 3 nsplugin failed."""
    table = PAGE.partition("| exit code |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == ["0", "1", "2", "3"]
