"""Reading JSON from anyone (spec/manifest.md M6): values, limits, places."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin.canonical import pretty
from nsplugin.pointers import UNKNOWN, join
from nsplugin.reading import read
from nsplugin.spans import Span

SAFE = 2**53 - 1
MEBIBYTE = 1 << 20

texts = st.text(st.characters(codec="utf-8"), max_size=6)
numbers = st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not SAFE < abs(x) < 1e21)
scalars = st.none() | st.booleans() | numbers | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=25
)
layouts = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 0, 1, 2, "\t"]), "ensure_ascii": st.booleans(), "sort_keys": st.booleans()}
)


def messages(data: bytes | str) -> list[str]:
    return [problem.message for problem in read(data).problems]


def places(data: bytes | str) -> list[tuple[int, ...]]:
    return [tuple(problem.span or ()) for problem in read(data).problems]


def part(text: str, span: Span | None) -> str:
    """The characters of a span, by a way of counting of its own."""
    assert span is not None
    lines = text.replace("\r\n", "\n\0").replace("\r", "\n").split("\n")
    lines = [line.replace("\0", "") for line in lines]
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    middle = lines[span.line : span.end_line - 1]
    return "\n".join([lines[span.line - 1][span.column - 1 :], *middle, lines[span.end_line - 1][: span.end_column - 1]])


def everything(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(pointer, value), *(found for key, item in inner for found in everything(item, join(pointer, key)))]


# Values


@given(json_values, layouts)
def test_a_sound_text_reads_as_its_value(value: Any, layout: dict[str, Any]) -> None:
    document = read(json.dumps(value, **layout).encode())
    assert document.problems == ()
    assert document.value == value


@given(json_values)
def test_what_is_written_reads_back(value: Any) -> None:
    """A manifest that was built is one that can be checked: ``pretty`` and ``read`` are inverse."""
    document = read(pretty(value))
    assert document.problems == ()
    assert document.value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("5.0", 5), ("-5.00", -5), ("5e0", 5), ("500e-2", 5), ("-0.0", 0), ("-0", 0)),
        *(("9007199254740991.0", SAFE), ("5.5", 5.5), ("1e21", 1e21)),
    ],
)
def test_an_integral_number_is_an_integer(text: str, value: float) -> None:
    """nextskin D8: 5.0 in a JSON manifest is 5."""
    found = read(text).value
    assert (found, type(found)) == (value, type(value))


def test_text_and_bytes_read_alike() -> None:
    for text in ('{"é": "日本"}', '{"a": NaN}', "", '{"a": 1, "a": 2}'):
        one, two = read(text), read(text.encode())
        assert (one.value, one.problems, one.text) == (two.value, two.problems, two.text)


def test_a_surrogate_pair_in_escapes_is_one_character() -> None:
    document = read(rb'["\ud83d\ude00"]')
    assert (document.value, document.problems) == (["😀"], ())


def test_a_top_level_of_any_type_is_readable() -> None:
    """That a manifest is an object is for its structure to say."""
    for text in ("null", "5", '"a"', "[]", "true"):
        assert read(text).problems == ()


# Limits


def test_a_mebibyte_is_read_and_one_byte_more_is_not() -> None:
    """M6: at most 1 MiB, counted in bytes of UTF-8."""
    assert read(b"[]".ljust(MEBIBYTE)).problems == ()
    assert messages(b"[]".ljust(MEBIBYTE + 1)) == ["the text has more than 1,048,576 bytes, and no more are read"]
    assert read('"' + "é" * (MEBIBYTE // 2 - 1) + '"').problems == ()
    assert messages('"' + "é" * (MEBIBYTE // 2) + '"') == ["the text has more than 1,048,576 bytes, and no more are read"]


def test_the_limit_may_be_another() -> None:
    assert read(b"[1]", limit=3).problems == ()
    (problem,) = read(b"[1]", limit=2).problems
    assert problem.message == "the text has more than 2 bytes, and no more are read"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_64_levels_are_read_and_65_are_not(opening: str, closing: str) -> None:
    """M6"""
    inner = "1" if opening != "[" else ""
    assert read(opening * 64 + inner + closing * 64).problems == ()
    (problem,) = read(opening * 65 + inner + closing * 65).problems
    assert problem.message == "nested too deeply: this is level 65, and 64 are allowed"
    assert problem.span is not None and problem.span.column == len(opening) * 64 + 1


def test_many_brackets_side_by_side_are_not_deep() -> None:
    document = read("[" + "[[]]," * 1000 + "{}]")
    assert document.problems == () and len(document.value) == 1001


def test_what_stands_behind_a_deep_place_is_looked_at_too() -> None:
    text = '{"a": ' + "[" * 70 + "]" * 70 + ', "b": NaN, "b": 1}'
    assert [problem.pointer for problem in read(text).problems][1:] == ["/b", "/b"]


@pytest.mark.parametrize("number", ["9007199254740991", "-9007199254740991", "9007199254740991.0"])
def test_the_greatest_safe_integers_are_read(number: str) -> None:
    assert read(f"[{number}]").problems == ()


@pytest.mark.parametrize(
    "number",
    ["9007199254740992", "-9007199254740992", "9" * 6000, "-" + "9" * 100_000, "9007199254740992.0", "1e20"],
    ids=["2^53", "-2^53", "6,000 digits", "100,000 digits", "2^53 as float", "1e20"],
)
def test_integers_beyond_are_refused(number: str) -> None:
    """M6: beyond 2^53-1, with any number of digits."""
    document = read(f"[{number}]")
    assert [problem.pointer for problem in document.problems] == ["/0"]
    assert document.value == [UNKNOWN]


def test_at_most_a_hundred_faults_are_listed() -> None:
    listed = read(b"[" + b"NaN," * 100 + b"1]").problems
    assert len(listed) == 100
    listed = read(b"[" + b"NaN," * 1000 + b"1]").problems
    assert len(listed) == 101
    assert (listed[-1].message, listed[-1].hint) == (
        "there are more than 100 faults in this text",
        "put the listed ones right first",
    )


def test_a_long_key_does_not_grow_into_long_pointers() -> None:
    document = read('{"' + "k" * 500_000 + '": [' + "NaN," * 100 + "1]}")
    assert {problem.pointer for problem in document.problems} == {""}
    assert document.problems[0].span == Span(1, 500_007, 1, 500_010)


def deeper(levels: int) -> Any:
    return read(b"[" * 50 + b"]" * 50 + b" ") if levels == 0 else deeper(levels - 1)


def test_reading_works_near_the_recursion_limit() -> None:
    """The caller may stand deep; the C parser may then fail to go on, and the exact scanner takes over."""
    frames = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frame, frames = frame.f_back, frames + 1
    assert deeper(sys.getrecursionlimit() - frames - 60).problems == ()


# Encoding


def test_invalid_utf_8_says_which_byte_and_where() -> None:
    """M6"""
    (problem,) = read(b'{\n  "a": "caf\xe9",\n  "b": "na\xefve"\n}').problems
    assert problem.message == "byte 0xE9 at offset 13 is not UTF-8 (1 more in this text)"
    assert problem.span == Span(2, 12, 2, 13)


def test_the_offset_counts_the_byte_order_mark() -> None:
    data = b'\xef\xbb\xbf["\xe9"]'
    assert data[5:6] == b"\xe9"
    assert messages(data)[1] == "byte 0xE9 at offset 5 is not UTF-8"


def test_a_text_with_undecodable_bytes_can_be_printed() -> None:
    assert read(b'"caf\xe9"').text == '"caf\ufffd"'


def test_a_byte_order_mark_is_no_column() -> None:
    assert places(b"\xef\xbb\xbf[NaN]") == [(1, 1, 1, 2), (1, 2, 1, 5)]


def test_the_replacement_character_itself_is_a_character() -> None:
    assert read('["\ufffd"]').value == ["\ufffd"]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_wide_encodings_are_named_and_read_all_the_same(codec: str, mark: str) -> None:
    """One fault is one finding, and others in the text are found in the same run."""
    document = read((mark + '{"é": "日本😀"}').encode(codec))
    assert document.value == {"é": "日本😀"}
    name = f"UTF-{codec[4:6]} ({'little' if codec.endswith('le') else 'big'}-endian)"
    assert [problem.message for problem in document.problems] == [
        f"the text is {name}, {'with' if mark else 'without'} a byte order mark; JSON is UTF-8"
    ]
    assert len(read((mark + '{"a": NaN}').encode(codec)).problems) == 2


# Places


def test_independent_faults_are_all_found_in_one_run() -> None:
    text = '{"a": 1, "a": 2, "b": NaN, "c": {"d": 1, "d": "\\ud800"}, "e": 9007199254740992}'
    assert [problem.pointer for problem in read(text).problems] == ["/a", "/b", "/c/d", "/c/d", "/e"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_three_ways(end: str) -> None:
    text = end.join(["{", '  "a": NaN,', "", '  "b": NaN', "}"])
    assert places(text) == [(2, 8, 2, 11), (4, 8, 4, 11)]


def test_columns_count_characters() -> None:
    assert places('{"日本😀é": NaN}') == [(1, 10, 1, 13)]
    assert places('{\t"a":\tNaN}') == [(1, 8, 1, 11)]
    assert places('["\u2028", NaN]') == [(1, 7, 1, 10)]


def test_faults_come_in_the_order_of_the_text() -> None:
    text = '{"a": [1,], "b": {"c": NaN,}, "d": True}'
    spans = places(text)
    assert spans == sorted(spans) and len(spans) == 4


@given(json_values, layouts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_value_has_its_exact_span(value: Any, layout: dict[str, Any], end: str) -> None:
    text = json.dumps(value, **layout).replace("\n", end)
    spans = read(text).spans
    for pointer, item in everything(value):
        assert json.loads(part(text, spans.locate(pointer))) == item


@given(st.dictionaries(texts, st.dictionaries(texts, scalars, min_size=1, max_size=3), min_size=1, max_size=3), layouts)
def test_every_key_has_its_exact_span(value: dict[str, Any], layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout)
    spans = read(text).spans
    for key, inner in value.items():
        assert json.loads(part(text, spans.locate(join("", key), "key"))) == key
        for name in inner:
            assert json.loads(part(text, spans.locate(join("", key, name), "key"))) == name


def _escaped(character: str, how: int) -> str:
    if how == 0 or character in '"\\':
        return json.dumps(character)[1:-1]
    return character if how == 1 and character >= " " else "".join(f"\\u{unit:04X}" for unit in _units(character))


def _units(character: str) -> list[int]:
    data = character.encode("utf-16-be")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


@given(st.lists(st.tuples(st.characters(codec="utf-8"), st.integers(0, 2)), min_size=1, max_size=12))
def test_each_character_of_a_string_has_its_place(characters: list[tuple[str, int]]) -> None:
    """A fault inside a string (a cron field) gets its own columns, whatever is escaped before it."""
    written = [_escaped(*each) for each in characters]
    text = '{"a": ["' + "".join(written) + '"]}'
    document = read(text)
    assert document.value == {"a": ["".join(character for character, _ in characters)]}
    at = 9
    for number, source in enumerate(written):
        assert document.spans.locate("/a/0", start=number, end=number + 1) == Span(1, at, 1, at + len(source))
        at += len(source)
    assert document.spans.locate("/a/0", start=len(written)) == Span(1, at, 1, at)
    assert document.spans.locate("/a/0", start=len(written) + 1) == document.spans.locate("/a/0")
    assert document.spans.locate("/a/0", start=0, end=99) == Span(1, 9, 1, at)


def test_a_pointer_to_nothing_finds_the_nearest_ancestor() -> None:
    spans = read('{"a": [1, {"b": 2}]}').spans
    assert spans.locate("/a/1/c") == spans.locate("/a/1") == Span(1, 11, 1, 19)
    assert spans.locate("/a/7") == spans.locate("/a/x") == spans.locate("/a") == Span(1, 7, 1, 20)
    assert spans.locate("/z", "key") == spans.locate("") == Span(1, 1, 1, 21)
    assert spans.locate("/a/0", start=0, end=1) == spans.locate("/a/0")


def test_of_equal_keys_the_last_counts() -> None:
    document = read('{"a": 1, "a": [2]}')
    assert document.value == {"a": [2]}
    assert document.spans.locate("/a/0") == Span(1, 16, 1, 17)
    assert document.spans.locate("/a", "key") == Span(1, 10, 1, 13)


def test_spans_survive_faults() -> None:
    document = read("{'a': [1,, True], b: NaN}")
    assert document.value == {"a": [1, True], "b": UNKNOWN}
    assert document.spans.locate("/a/1") == Span(1, 12, 1, 16)
    assert document.spans.locate("/b") == Span(1, 22, 1, 25)
    assert document.spans.locate("/b", "key") == Span(1, 19, 1, 20)


# Anything


def is_sound(text: str) -> bool:
    """The standard library's verdict, with what it lets pass refused."""

    def no(_: Any) -> Any:
        raise ValueError

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(items) if len({key for key, _ in items}) == len(items) else no(items)

    def number(source: str) -> float:
        value = float(source)
        whole = value.is_integer() and abs(value) < 1e21
        return value if abs(value) < float("inf") and (abs(value) <= SAFE or not whole) else no(0)

    def integer(source: str) -> int:
        return int(source) if abs(int(source)) <= SAFE else no(0)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=no, parse_float=number, parse_int=integer)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return False
    return not text.startswith("\ufeff")


CHANGES = ["", *"[]{},:\"'\\/#-+.0e1 \n\r\t\0n=;ue“：", "NaN", "true", "\\u", "\\ud8", "\ud800", "//", "/*"]


@given(json_values, st.data())
def test_a_changed_text_is_refused_exactly_when_it_is_not_sound(value: Any, data: st.DataObject) -> None:
    """Cut, deleted, replaced, doubled, inserted: never an exception, never a fault unseen, never a sound text refused."""
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=data.draw(st.booleans()))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        with_what = data.draw(st.sampled_from(CHANGES))
        text = text[:at] + with_what + text[at + data.draw(st.integers(0, 2)) :]
    document = read(text)
    assert (document.problems == ()) == is_sound(text)
    for problem in document.problems:
        assert problem.span is not None and problem.code == "NSP601" and problem.severity == "error"
        assert part(document.text, problem.span) is not None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    document = read(data)
    assert document.problems or is_sound(document.text)
    document.spans.locate("/a/0")


@given(st.text(alphabet="[]{},:\"'\\/*#ntfu0e-.ad \n", max_size=60))
def test_any_mixture_of_json_characters_is_read(text: str) -> None:
    document = read(text)
    assert (document.problems == ()) == is_sound(text)
    assert document.text == text


# Start-up


def test_a_sound_text_needs_neither_the_scanner_nor_a_library() -> None:
    """The start-up budget: quick texts take the C parser alone."""
    program = (
        "import sys; from nsplugin.reading import read; document = read(b'{\"a\": [1, 2.5, null]}'); "
        "assert document.problems == () and document.value == {'a': [1, 2.5, None]}; "
        "print([name for name in ('nsplugin.json_text.scan', 'pydantic', 'jsonschema', 'regex', 'rfc8785', 'rich', 'asyncio') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_lone_character_that_is_no_json_is_one_fault() -> None:
    """One fault, one finding: what stands there was told, so not that there is no value as well (M6)."""
    assert messages(b"\0") == ["the character U+0000 is not white space in JSON"]
