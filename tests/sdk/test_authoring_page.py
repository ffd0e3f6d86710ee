"""``docs/authoring.md`` against the code: its examples run, its error is the one that is raised."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from nsplugin import DefinitionError
from nsplugin.platforms import load

PAGE = (Path(__file__).parents[2] / "docs" / "authoring.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "authoring"}
    exec(compile(source, "docs/authoring.md", "exec"), namespace)
    return namespace


def test_the_examples_define_what_they_say() -> None:
    by_objects, by_mapping, jobs, _ = EXAMPLES
    assert run(by_objects)["plugin"].manifest_source["id"] == "cache-expiry"
    assert run(by_mapping)["plugin"].manifest_source["jobs"] == {"tidy": {"maxAttempts": 5, "timeoutMs": 60_000}}
    assert [job.key for job in run(jobs)["jobs"]] == ["recalc_totals", "cancel_stale_orders", "nightly"]


def test_the_error_is_the_one_that_is_raised() -> None:
    with pytest.raises(DefinitionError) as caught:
        run(EXAMPLES[-1])
    (shown,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert str(caught.value) == shown


def test_the_table_names_what_handlers_get() -> None:
    table = PAGE.partition("| handler of |")[2].partition("\n\n")[0].splitlines()[2:]
    named = [re.findall(r"`(\w+)`", line) for line in table]
    nextskin, cogover = load("nextskin").handlers, load("cogover").handlers
    assert named == [list(nextskin.job), list(nextskin.route), [*cogover.job, cogover.whole]]
