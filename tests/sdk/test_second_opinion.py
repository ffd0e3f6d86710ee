"""croniter as the second witness of ``check_manifest`` (NSP604): it agrees wherever our own calendar finds a fire."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin import check_manifest
from nsplugin.cron import never_fires, normalise, parse
from nsplugin.second_opinion import objection, schema_objection

GRAMMAR = Path(__file__).parents[2] / "fixtures" / "cron" / "cron_grammar.jsonl"
LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def _item(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    step = st.integers(1, 70)
    ranges = st.tuples(number, number).map(sorted).map(lambda pair: f"{pair[0]}-{pair[1]}")
    return st.one_of(
        st.just("*"),
        number.map(str),
        number.map(lambda value: f"0{value}"),
        ranges,
        step.map(lambda every: f"*/{every}"),
        st.tuples(ranges, step).map(lambda both: f"{both[0]}/{both[1]}"),
    )


EXPRESSIONS = st.tuples(*(st.lists(_item(*limits), min_size=1, max_size=3).map(",".join) for limits in LIMITS)).map(" ".join)


@settings(max_examples=1000, deadline=None)
@given(expression=EXPRESSIONS)
def test_agrees_with_our_calendar_on_every_schedule_that_fires(expression: str) -> None:
    if not never_fires(parse(expression)):
        assert objection(expression) is None


def test_agrees_on_every_vector_that_fires() -> None:
    vectors = [json.loads(line) for line in GRAMMAR.read_text(encoding="utf-8").splitlines()]
    good = [vector["expression"] for vector in vectors if vector["ok"]]
    fires = [normalise(text) for text in good if not never_fires(parse(text))]
    assert len(fires) > 50
    assert {text: objection(text) for text in fires if objection(text) is not None} == {}


@pytest.mark.parametrize("expression", ["0 0 29 2 *", "0 0 31 2 1", "59 23 31 12 7", f"0 0 * * {','.join(['1'] * 500)}"])
def test_agrees_on_rare_and_long_schedules(expression: str) -> None:
    assert objection(expression) is None


def test_knows_where_the_two_engines_differ() -> None:
    """croniter takes ``*/1`` for a restriction (spec/cron.md G4: it is none), so it finds fires that we do not."""
    assert never_fires(parse("0 0 30 2 */1"))
    assert objection("0 0 30 2 */1") is None


def test_an_objection_is_in_croniters_words() -> None:
    assert objection("0 0 30 2 *") == "CroniterBadDateError: failed to find next date"
    assert (objection("not cron") or "").startswith("CroniterBadCronError: ")


def test_a_disagreement_is_a_problem_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "nsplugin.preinstall.objection", lambda expression: "CroniterBadDateError: none" if expression else None
    )
    manifest = {
        "manifestVersion": 1,
        "platform": "nextskin",
        "id": "a",
        "entry": "plugin:plugin",
        "jobs": {"a": {}},
        "cron": [{"schedule": "0  5 * * *", "job": "a"}],
    }
    report = check_manifest(manifest, timezone="UTC", now=datetime(2026, 1, 1, tzinfo=UTC))
    (problem,) = report.problems
    assert (problem.code, problem.pointer, report.ok) == ("NSP604", "/cron/0/schedule", False)
    assert problem.message == (
        'nsplugin finds a next fire of "0 5 * * *", but croniter, a second engine, does not: CroniterBadDateError: none'
    )


@pytest.mark.parametrize("schema", [True, {"type": "object", "required": ["key"]}, {"$ref": "#/$defs/A", "$defs": {"A": {}}}])
def test_agrees_on_sound_payload_schemas(schema: object) -> None:
    assert schema_objection(schema) is None


def test_objects_to_what_is_no_schema() -> None:
    assert schema_objection({"type": "strin"}) == "'strin' is not valid under any of the given schemas"
