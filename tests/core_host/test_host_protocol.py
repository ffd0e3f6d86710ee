"""The lines between core and host: batches, bounds, and whatever else may come through a pipe (spec/core.md H1)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin_core.host.protocol import (
    BATCH_BYTES,
    MAX_LINE,
    MAX_MESSAGE,
    Lines,
    ProtocolError,
    TooLongError,
    clean,
    decode,
    encode,
    frame,
    integer,
    text,
)
from nsplugin_core.host.routes import RouteResponse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=8,
)
MESSAGES = st.lists(st.fixed_dictionaries({"t": st.text(), "value": JSON}), max_size=20)


@settings(max_examples=60, deadline=None)
@given(MESSAGES, st.lists(st.integers(1, 50), min_size=1))
def test_messages_come_out_as_they_went_in_however_the_pipe_cuts_them(messages: list[dict[str, Any]], cuts: list[int]) -> None:
    stream = b"".join(frame(map(encode, messages)))
    lines, found, at, turn = Lines(), [], 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        for line in lines.feed(stream[at : at + size]):
            found += decode(line)
        at, turn = at + size, turn + 1
    assert found == messages


def test_small_messages_share_a_line_and_large_ones_do_not() -> None:
    small, large = encode({"t": "a"}), encode({"t": "b", "x": "y" * BATCH_BYTES})
    assert [len(decode(line)) for line in frame([small] * 1000)] == [1000]
    assert [len(decode(line)) for line in frame([small, large, small, small])] == [1, 1, 2]
    assert list(frame([])) == []


def test_a_message_that_no_line_can_hold_is_refused_where_it_is_made() -> None:
    fits = {"t": "a", "x": "y" * (MAX_MESSAGE - 16)}
    assert len(next(frame([encode(fits)]))) <= MAX_LINE
    with pytest.raises(TooLongError, match="a message of 4,194,289 bytes is larger than 4,194,288"):
        encode({"t": "a", "x": "y" * (MAX_MESSAGE - 15)})
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"t": "a", "x": float("nan")})


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"{}",
        b"[1]",
        b"[{}]",
        b'[{"t": 1}]',
        b'[{"t": "a"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b"[" + b"9" * 5_000 + b"]",
        b'[{"t": "a", "n": NaN}',
        b'[{"t": "log", "fields": {"n": NaN}}]',
        b'[{"t": "log", "n": -Infinity}]',
    ],
    ids=range(13),
)
def test_whatever_is_no_list_of_messages_is_a_protocol_error(line: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"a line that is no (JSON|list)"):
        decode(line)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_decoding_raises_nothing_else(line: bytes) -> None:
    with suppress(ProtocolError):
        decode(line)


def test_a_line_has_a_greatest_length_even_when_it_never_ends() -> None:
    lines = Lines(limit=100)
    assert lines.feed(b"x" * 100 + b"\n") == [b"x" * 100]
    assert lines.feed(b"y" * 60) == []
    with pytest.raises(ProtocolError, match="a line of more than 100 bytes"):
        lines.feed(b"y" * 41)


def test_fields_have_the_right_type_or_the_message_is_refused() -> None:
    message = {"t": "done", "id": 3, "flag": True, "error": "a\0b\ud800" + "c" * 100}
    assert (integer(message, "id"), text(message, "error", 6)) == (3, "a\ufffdb\ufffdcc")
    for key in ("flag", "error", "nope"):
        with pytest.raises(ProtocolError, match="a 'done' message without a whole number"):
            integer(message, key)
    with pytest.raises(ProtocolError, match="a 'done' message without a text 'id'"):
        text(message, "id", 10)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_can_be_stored_anywhere(value: str) -> None:
    cleaned = clean(value)
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned
    if "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value):
        assert cleaned == value


@pytest.mark.parametrize(
    "message",
    [
        {"status": 99, "headers": {}, "body": ""},
        {"status": 200, "headers": [], "body": ""},
        {"status": 200, "headers": {}, "body": "no base64!"},
        {"status": 200, "headers": {}, "body": None},
        {"status": "200", "headers": {}, "body": ""},
    ],
)
def test_a_response_is_plain_or_a_protocol_error(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        RouteResponse.of({"t": "response", **message})
