"""The words for what is wrong with the shape of a JSON text."""

from __future__ import annotations

from typing import NamedTuple

from nsplugin.json_limits import DEPTH
from nsplugin.wording import clipped, quoted


class Complaint(NamedTuple):
    """What is wrong, and what to write instead."""

    message: str
    hint: str | None = None


def empty(text: str) -> Complaint:
    state = "holds only white space" if text.isspace() else "holds no JSON value" if text else "is empty"
    return Complaint(f"the text {state}", 'a manifest is a JSON object: {"manifestVersion": 1, …}')


def not_json(source: str) -> Complaint:
    return Complaint(f"this is not JSON: it begins with {quoted(source)}", "a manifest is a JSON object and begins with {")


def trailing() -> Complaint:
    return Complaint("text after the end of the JSON value", "remove it: a manifest is one JSON value")


def closes_nothing(mark: str) -> Complaint:
    return Complaint(f'this "{mark}" closes nothing: all brackets before it are closed', "remove it, or an earlier one")


def mismatch(mark: str, marks: str, opened: str) -> Complaint:
    return Complaint(f'"{mark}" cannot close the "{marks[0]}" of {opened}', f'write "{marks[1]}" before it or in its place')


def unclosed(mark: str, missing: str, opened: str, suspect: str | None) -> Complaint:
    more = f", nor are the {len(missing) - 1} brackets around it" if len(missing) > 2 else ""
    more = ", nor is the bracket around it" if len(missing) == 2 else more
    hint = f'write "{clipped(missing)}" at the end of the text'
    return Complaint(f'the "{mark}" of {opened} is not closed{more}', suspect or hint)


def suspicious(mark: str, opened: str, line: int) -> str:
    return f'a "{mark}" seems to be missing before line {line}, to close the bracket of {opened}'


def too_deep() -> Complaint:
    return Complaint(f"nested too deeply: this is level {DEPTH + 1}, and {DEPTH} are allowed", "make the value flatter")


def trailing_comma() -> Complaint:
    return Complaint("a comma after the last item", "remove it: JSON has no trailing commas")


def extra_comma(*, first: bool) -> Complaint:
    return Complaint("a comma with nothing before it" if first else "two commas with nothing between them", "remove it")


def comma_missing() -> Complaint:
    return Complaint("a comma is missing before this", 'write ","')


def mark_instead(found: str, mark: str) -> Complaint:
    return Complaint(f'"{found}" is not a mark of JSON', f'write "{mark}"')


def colon_missing(key: object) -> Complaint:
    return Complaint(f"a colon is missing after {_name(key)}", 'write ":"')


def value_missing(key: object) -> Complaint:
    return Complaint(f"{_name(key)} has no value", 'write ":" and a value after it')


def key_in_array() -> Complaint:
    return Complaint("a key in an array: only objects have keys", "write {…} instead of […]")


def key_expected(source: str) -> Complaint:
    return Complaint(f"{clipped(source)} stands where a key is expected", 'a key is a string in double quotes: "key"')


def bare_key(source: str) -> Complaint:
    return Complaint(f"the key {clipped(source)} has no double quotes around it", f"write {quoted(source)}")


def duplicate(key: str, first: str) -> Complaint:
    return Complaint(f"the key {quoted(key)} stands twice in this object, first at {first}", "remove one of them")


def unexpected(source: str, marks: str, *, after_quote: bool) -> Complaint:
    found = clipped(source) if source.startswith('"') else quoted(source)
    hint = 'a quote inside a string is written \\"' if after_quote else None
    return Complaint(f'unexpected {found}: "," or "{marks[1]}" should stand here', hint)


def key_missing() -> Complaint:
    return Complaint('a key is missing before ":"', 'write "key": and a value')


def no_value(source: str) -> Complaint:
    return Complaint(f"{clipped(source)} is not a JSON value", "strings stand in double quotes")


def _name(key: object) -> str:
    return f"the key {quoted(key)}" if isinstance(key, str) else "this key"
