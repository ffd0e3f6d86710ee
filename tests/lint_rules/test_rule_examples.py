"""Each rule's own examples: the bad one has exactly its finding, the good one none (spec/cli.md Rule codes)."""

from __future__ import annotations

import ast

import pytest

from nsplugin.rules import Rule
from nsplugin_cli.rules import family
from nsplugin_cli.rules.subject import SourceSubject
from python_sources import problems

RULES = [pytest.param(rule, id=rule.code) for rule in family.rules]


@pytest.mark.parametrize("rule", RULES)
def test_the_bad_example_has_exactly_this_finding(rule: Rule[SourceSubject]) -> None:
    (problem,) = problems(rule.bad)
    assert (problem.code, problem.name, problem.severity) == (rule.code, rule.name, rule.severity)
    assert problem.span is not None


@pytest.mark.parametrize("rule", RULES)
def test_the_good_example_has_none(rule: Rule[SourceSubject]) -> None:
    assert problems(rule.good) == []


@pytest.mark.parametrize("rule", RULES)
def test_examples_are_whole_sources_of_few_lines(rule: Rule[SourceSubject]) -> None:
    for example in (rule.bad, rule.good):
        ast.parse(example)
        assert example.endswith("\n") and example.count("\n") < 30 and "nsplugin" in example


def test_codes_are_in_order_and_each_rule_says_why() -> None:
    codes = [rule.code for rule in family.rules]
    assert codes == sorted(set(codes))
    assert codes == [*(f"NSP30{n}" for n in (4, 5, 6, 7)), *(f"NSP40{n}" for n in (1, 2, 3, 4)), "NSP501", "NSP502"]
    assert all(rule.summary.endswith(".") and rule.why.endswith(".") and "spec/" in rule.source for rule in family.rules)
