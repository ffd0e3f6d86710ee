"""The grammar against a naive reading of it, and what every fault must be like (spec/cron.md G1–G4)."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cron_oracle import RANGES, Naive, expressions
from nsplugin.cron import CronError, CronFault, Expression, faults, normalise, parse

FIELDS = ["minute", "hour", "day of month", "month", "day of week"]
CODES = {"NSP201", "NSP202", "NSP203"}
# Text that is nearly an expression finds more than random text does.
SLIPS = ["*", "5/10", "22-2", "MON", "jan-mar", "?", "L", "5#2", "*/0", "60", "@daily", "1,,2", "５", "H/3", "1–5", "\u00a0"]
NEARLY = st.lists(st.text("0123456789*/,-", min_size=1, max_size=6) | st.sampled_from(SLIPS), min_size=3, max_size=7).map(
    " ".join
)


def bits(numbers: set[int]) -> int:
    return sum(1 << number for number in numbers)


@settings(deadline=None)
@given(expressions() | NEARLY)
def test_what_is_taken_and_what_it_means_is_as_the_naive_reading_says(text: str) -> None:
    naive = Naive(text)
    assert (faults(text) == ()) == naive.ok
    if naive.ok:
        minutes, hours, days, months = map(bits, naive.sets[:4])
        expected = (minutes, hours, days, months, bits(naive.weekdays), not naive.free_day, not naive.free_weekday)
        assert parse(text)[1:] == expected


@settings(deadline=None)
@given(st.text() | NEARLY | st.tuples(NEARLY, st.text(max_size=3)).map("".join))
def test_faults_are_plain_data_with_their_place(text: str) -> None:
    """G3: a field or the whole; columns inside the text, in order, never overlapping; messages fit for every terminal."""
    found = faults(text)
    for fault in found:
        assert fault.code in CODES and fault.field in [*FIELDS, None]
        assert 1 <= fault.column <= fault.end_column <= len(text) + 1
        assert fault.message.isprintable() and (fault.hint or "").isprintable()
        assert len(fault.message) < 300 and len(fault.hint or "") < 300
    assert [fault.end_column for fault in found[:-1]] <= [fault.column for fault in found[1:]]
    assert len(found) <= 1 or all(fault.field for fault in found), "a fault of the whole stands alone"


@settings(deadline=None)
@given(NEARLY)
def test_fixes_that_repair_every_fault_give_a_good_expression(text: str) -> None:
    found, repaired = faults(text), text
    for fault in reversed(found):
        if fault.fix is None:
            return
        repaired = repaired[: fault.column - 1] + fault.fix + repaired[fault.end_column - 1 :]
    assert faults(repaired) == ()


@settings(deadline=None)
@given(st.data())
def test_each_faulty_item_is_one_fault_at_its_column(data: st.DataObject) -> None:
    """G3, and no cascade: faulty items among good ones, in any field."""
    faulty = ["MON", "5/10", "x", "?", "1-", "*/0", "99", "7-3", "+1", "*/", "1/2/3", "0x1"]
    parts, expected, column = [], [], 1
    for _, high in RANGES:
        items = data.draw(st.lists(st.sampled_from([*faulty, "*", "1", f"1-{high}", f"*/{high}"]), min_size=1, max_size=4))
        for item in items:
            if item in faulty:
                expected.append((column, column + len(item)))
            column += len(item) + 1
        parts.append(",".join(items))
    assert [(fault.column, fault.end_column) for fault in faults(" ".join(parts))] == expected


@pytest.mark.parametrize(
    "text",
    [
        "9" * 6001 + " * * * *",
        "*/" + "9" * 1_000_000 + " * * * *",
        "0" * 1_000_000 + "5 * * * *",
        ",".join(["1"] * 300_000) + " * * * *",
        ",".join(["x"] * 300_000) + " * * * *",
        "* " * 400_000,
        " " * 1_000_000 + "* * * * *",
        " " * 500_000 + "," + " " * 500_000,
        "\u00a0" * 1_000_000,
        "*/" * 400_000 + " * * * *",
        "/" * 1_000_000 + " * * * *",
        "," * 1_000_000 + " * * * *",
        "a-" * 400_000 + " * * * *",
        "９" * 1_000_000 + " * * * *",
        "@every " + "9" * 1_000_000 + "m",
        '"' * 1_000_000,
    ],
    ids=lambda text: f"{text[:6]}… {len(text)}".encode("unicode_escape").decode(),
)
def test_megabytes_are_judged_in_linear_time(text: str) -> None:
    """G1: numbers of any length, and any other length. A quadratic step would take minutes here."""
    found = faults(text)
    assert len(found) <= 1000
    assert sum(len(fault.message) + len(fault.hint or "") for fault in found) < 300_000


def test_the_public_shapes() -> None:
    expression = parse(" 05\t0,12 * 1-3 7 ")
    assert expression == Expression("05 0,12 * 1-3 7", 1 << 5, 1 << 12 | 1, (1 << 32) - 2, 0b1110, 1, False, True)
    assert len({expression, parse("05 0,12 * 1-3 7"), parse("5 0,12 * 1-3 7")}) == 2
    assert normalise(" 0\t \t0 *  *\t* ") == "0 0 * * *"
    assert normalise("0\u00a00 *\n") == "0\u00a00 *\n"
    assert pickle.loads(pickle.dumps(expression)) == expression


def test_an_error_carries_every_fault_and_says_them() -> None:
    with pytest.raises(CronError) as raised:
        parse("60 24 * * *")
    error = pickle.loads(pickle.dumps(raised.value))
    assert error.faults == faults("60 24 * * *") == raised.value.faults
    assert str(error) == "minute 60 is out of range: 0–59; hour 24 is out of range: 0–23"
    assert isinstance(raised.value, ValueError)
    assert error.faults[1] == CronFault("NSP203", "hour 24 is out of range: 0–23", "midnight is hour `0`", "hour", 4, 6)


FREE = ["*", "*/1", "*/01", "*/0001", "5,*", "2,*/01"]
RESTRICTED = ["*/2", "*/11", "*/10", "1-7", "1-7/1", "1,2,3"]


@pytest.mark.parametrize("field", [*FREE, *RESTRICTED])
def test_a_day_field_is_free_only_with_a_star_or_a_step_of_one(field: str) -> None:
    """G4."""
    assert parse(f"0 0 {field} * 1").day_restricted == (field in RESTRICTED)
    assert parse(f"0 0 1 * {field}").weekday_restricted == (field in RESTRICTED)


def test_a_week_written_out_and_a_month_written_out_are_restrictions() -> None:
    """G4: `1-31` and `0-7` name every day and are restrictions all the same."""
    expression = parse("0 0 1-31 * 0-7")
    assert expression.day_restricted and expression.weekday_restricted
