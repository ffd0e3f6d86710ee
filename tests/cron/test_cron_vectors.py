"""Every line of the public vectors (spec/cron.md): the grammar's verdicts and the fire times of both dialects."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from nsplugin.cron import Calendar, CronError, Policy, faults, isoformat, parse, to_minute, zone

VECTORS = Path(__file__).parents[2] / "fixtures" / "cron"
POLICIES: dict[str, Policy] = {"nextskin": "defer-once", "cogover": "every-match"}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("vector", lines("cron_grammar.jsonl"), ids=lambda vector: vector["note"])
def test_the_grammar_takes_and_refuses_what_the_vectors_say(vector: dict[str, Any]) -> None:
    """spec/cron.md G1, G2."""
    found = faults(vector["expression"])
    assert (not found) == vector["ok"]
    if found:
        with pytest.raises(CronError) as raised:
            parse(vector["expression"])
        assert raised.value.faults == found


@pytest.mark.parametrize("vector", lines("cron_fires.jsonl"), ids=lambda vector: vector["id"])
def test_fires_are_those_of_the_vectors_in_both_directions(vector: dict[str, Any]) -> None:
    """spec/cron.md F1–F5: in bulk, one by one, and backwards."""
    calendar = Calendar(parse(vector["expression"]), zone(vector["timezone"], offsets=True), POLICIES[vector["dialect"]])
    after = to_minute(datetime.fromisoformat(vector["after"]))
    expected = vector["fires"]
    assert [isoformat(minute) for minute in calendar.fires(after, len(expected) or 1)] == expected
    if not expected:
        assert calendar.next(after) is None
        return
    forwards, minute = [], after
    for _ in expected:
        found = calendar.next(minute)
        assert found is not None
        forwards.append(isoformat(minute := found))
    assert forwards == expected
    backwards = [isoformat(minute)]
    while len(backwards) < len(expected):
        found = calendar.previous(minute)
        assert found is not None
        backwards.append(isoformat(minute := found))
    assert backwards[::-1] == expected
    earlier = calendar.previous(minute)
    assert earlier is None or earlier <= after
