"""Patterns of payload schemas mean what JavaScript has them mean (docs/authoring.md; spec/manifest.md M5)."""

from __future__ import annotations

import re

import pytest

from nsplugin.payload_schema import mismatches, schema_faults

WORDS = (
    "",
    "a",
    "A",
    "z",
    "_",
    "-",
    "5",
    "٣",
    "é",
    "ſ",
    "\n",
    "\r",
    "\u2028",
    " ",
    "\u00a0",
    "\ufeff",
    "\u0085",
    "\x1c",
    "😀",
    "aa",
    "a\n",
    "ab",
    "é a",
    "[",
    "]",
)
FITTING = {
    r"^\d$": ("5",),
    r"^\D$": tuple(word for word in WORDS if len(word) == 1 and word != "5"),
    r"^\w$": ("a", "A", "z", "_", "5"),
    r"^[\w-]$": ("a", "A", "z", "_", "-", "5"),
    r"^[\w-z]$": ("a", "A", "z", "_", "-", "5"),
    r"^[^\W_]$": ("a", "A", "z", "5"),
    r"^\s$": ("\n", "\r", "\u2028", " ", "\u00a0", "\ufeff"),
    r"^[^\S]$": ("\n", "\r", "\u2028", " ", "\u00a0", "\ufeff"),
    r"\ba$": ("a", "é a"),
    r"^.$": tuple(word for word in WORDS if len(word) == 1 and word not in "\n\r\u2028"),
    r"a$": ("a", "aa", "é a"),
    r"^(?<n>a)\k<n>$": ("aa",),
    r"^(a)?\1$": ("", "aa"),
    r"^(?:(x)|a)\1$": ("a",),
    r"^(?<n>x)?\k<n>a$": ("a",),
    r"^[^]$": tuple(word for word in WORDS if len(word) == 1),
    r"[]": (),
    r"^[[\]]$": ("[", "]"),
    r"^\u{1F600}$": ("😀",),
    r"^\ud83d\ude00$": ("😀",),
    r"^\x61\u0062$": ("ab",),
    r"^\cJ$": ("\n",),
    r"^\-$": ("-",),
    r"^(?i:a)$": ("a", "A"),
    r"^\p{Lu}$": ("A",),
    r"^[\p{Nd}_]$": ("_", "5", "٣"),
    r"^[a&&b]$": ("a",),
}


@pytest.mark.parametrize("pattern", FITTING)
def test_a_pattern_matches_what_javascript_matches(pattern: str) -> None:
    """ECMA 262, with the flag u; brackets and dashes as every browser has them."""
    schema = {"pattern": pattern}
    assert list(schema_faults(schema, "")) == []
    assert tuple(word for word in WORDS if not list(mismatches(word, schema, ""))) == tuple(
        sorted(FITTING[pattern], key=WORDS.index)
    )


REFUSED = {
    "(?P<n>a)": "(?P…, which JavaScript does not have: write (?<name>…) and \\k<name>",
    "(?i)a": "(?i), which JavaScript does not have: write both cases in brackets, such as [Aa]",
    "(?m)a": "(?m…, which JavaScript does not have",
    r"a\Z": "\\Z, which JavaScript does not have: write $",
    r"\Aa": "\\A, which JavaScript does not have: write ^",
    "(?>a)": "(?>…, which JavaScript does not have",
    "a++": "++, which JavaScript does not have",
    "a{2}+": "{2}+, which JavaScript does not have",
    "(?#note)a": "(?#…, which JavaScript does not have",
    r"\N{DASH}": "\\N, which JavaScript does not have",
    r"[\X]": "\\X, which JavaScript does not have",
    "(?": "(?…, which JavaScript does not have",
    r"\u{110000}": "\\u{110000}, which JavaScript does not have",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_javascript_does_not_have_is_refused(pattern: str) -> None:
    """Another reader of the schema would refuse it, or read it differently."""
    (found,) = schema_faults({"pattern": pattern}, "")
    assert found.pointer == "/pattern"
    assert found.message.endswith(f" uses {REFUSED[pattern]}")
    (key,) = schema_faults({"patternProperties": {pattern: True}}, "")
    assert key.target == "key"


@pytest.mark.parametrize("pattern", ["\\k<n>", "(", "[a", "\\", "a**", "(?<n>a)(?<n>b)(", "[z-a]", r"\9"])
def test_what_is_no_pattern_at_all_is_refused(pattern: str) -> None:
    (found,) = schema_faults({"pattern": pattern}, "")
    assert re.search("is not a regular expression: ", found.message)
