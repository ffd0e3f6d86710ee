"""Every rule explains itself: the bad example gives exactly that finding, the good one none, and the documentation is whole."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from nsplugin.definition.assembly import assemble
from nsplugin.definition.collect import collecting
from nsplugin.platforms import every
from nsplugin.reading import read
from nsplugin.rules import Rule, documented, family, judge
from nsplugin.rules.identity import LOADING, MANIFEST, SOURCE, STRUCTURE
from nsplugin.rules.reference import document

BY_CODE = {rule.code: rule for rule in documented}
ELSEWHERE = {rule.code for rule in (*LOADING, *SOURCE)} | {"NSP603", "NSP604"}
"""What no definition and no manifest shows by itself: the command line's tests show these."""

TABLE = """
NSP001 config-invalid, NSP002 entry-not-found, NSP003 entry-raised, NSP004 no-plugin-defined, NSP005 entry-timed-out,
NSP006 unknown-key, NSP007 wrong-type, NSP008 missing-key, NSP101 job-name-invalid, NSP102 job-name-too-long,
NSP103 qualified-name-too-long, NSP104 max-attempts-out-of-range, NSP105 timeout-out-of-range, NSP106 handler-invalid,
NSP107 job-name-duplicate, NSP108 too-many-jobs, NSP109 display-name-too-long, NSP110 plugin-id-invalid,
NSP201 cron-field-count, NSP202 cron-syntax, NSP203 cron-value-out-of-range, NSP204 cron-unknown-job, NSP205 cron-too-long,
NSP206 timezone-invalid, NSP207 cron-never-fires, NSP208 cron-duplicate warning, NSP209 cron-day-or warning,
NSP210 cron-dst-affected warning, NSP211 cron-overlap warning, NSP301 payload-not-json, NSP302 payload-too-large,
NSP303 payload-schema-mismatch, NSP503 route-invalid, NSP601 manifest-unreadable, NSP602 manifest-version-unsupported,
NSP603 digest-mismatch, NSP604 engines-disagree, NSP901 needless-ignore warning
"""
"""The codes of spec/cli.md that are the SDK's, or found while loading; those over source facts stand in the command line."""


def test_the_rules_are_those_of_the_specification() -> None:
    """spec/cli.md Rule codes: codes are stable for ever."""
    wanted = [
        (code, name, severity or "error") for code, name, severity in re.findall(r"(NSP\d{3}) ([\w-]+)(?: (\w+))?", TABLE)
    ]
    assert [(rule.code, rule.name, rule.severity) for rule in documented] == wanted


def findings(example: str) -> list[str]:
    """The codes that an example gives: a manifest as it is read, or a plugin's source as it is run."""
    if example.startswith("{"):
        source = read(example)
        return [problem.code for problem in source.problems or judge(source.value)[1]]
    module: dict[str, Any] = {"__name__": "plugin"}
    with collecting():
        exec(compile(example, "plugin.py", "exec"), module)
    platform = next(platform for platform in every() if platform.layout.definer in module)
    project = {"entry": "plugin:plugin"} if "id=" in example else {"entry": "plugin:jobs", "id": "orders"}
    return [problem.code for problem in assemble(module[platform.layout.attribute], platform, project).problems]


SHOWN = [rule for rule in documented if rule.code not in ELSEWHERE]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.code)
def test_the_bad_example_gives_that_finding_alone(rule: Rule[Any]) -> None:
    assert findings(rule.bad) == [rule.code]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.code)
def test_the_good_example_gives_none(rule: Rule[Any]) -> None:
    assert findings(rule.good) == []


@pytest.mark.parametrize("rule", documented, ids=lambda rule: rule.code)
def test_a_rule_says_what_why_and_from_where(rule: Rule[Any]) -> None:
    assert rule.summary.endswith(".") and rule.why.endswith((".", "?"))
    assert rule.bad.endswith("\n") and rule.good.endswith("\n") and rule.bad != rule.good
    assert re.search(r"spec/(nextskin|cogover|cron|cli|manifest|sdk)\.md", rule.source)
    assert set(rule.platforms) <= {platform.name for platform in every()}
    assert not re.search(r"\d{4,}", rule.summary + rule.why), "limits are the platform's data, not a rule's words"


def test_family_holds_what_judges_and_nothing_twice() -> None:
    judging = [rule.code for rule in family.rules]
    assert judging == sorted(set(judging))
    assert not set(judging) & {rule.code for rule in (*LOADING, *STRUCTURE, *MANIFEST, *SOURCE)}
    assert [rule.code for rule in documented] == sorted(BY_CODE)


def test_rules_found_elsewhere_find_nothing_by_themselves() -> None:
    for rule in (*LOADING, *STRUCTURE, *MANIFEST, *SOURCE):
        assert list(rule.check(SimpleNamespace())) == []


def test_the_page_has_each_rule_once_with_its_examples() -> None:
    page = document()
    assert page.startswith("<!-- Generated") and page.endswith("```\n")
    for rule in documented:
        assert page.count(f"## {rule.code} {rule.name}\n") == 1
        assert rule.good.rstrip("\n") in page and rule.bad.rstrip("\n") in page
        assert f"(#{rule.code.lower()}-{rule.name})" in page
    assert "| maxAttempts | 1–20, default 5 | 1–10, default 5 |" in page
    assert "| jobs | – | at most 50 jobs |" in page


def test_the_page_takes_further_rules() -> None:
    page = document([*documented[:2]])
    assert "NSP002" in page and "NSP101" not in page
