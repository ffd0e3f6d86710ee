"""JUnit XML, which CI systems show as tests: a suite a file, a case a finding; errors fail, warnings pass with their text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from nsplugin_cli.report.places import from_root

if TYPE_CHECKING:
    from nsplugin_cli.diagnostic import Diagnostic, Report


def render(report: Report) -> str:
    """One XML document; a run without findings has one case that passes."""
    cases = len(report.diagnostics) or 1
    head = f'name="nsplugin {report.command}" tests="{cases}" failures="{report.errors}" errors="0"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {head}>\n{"".join(_suites(report))}</testsuites>\n'


def _suites(report: Report) -> Iterator[str]:
    if not report.diagnostics:
        yield '  <testsuite name="nsplugin" tests="1" failures="0" errors="0">\n'
        yield f'    <testcase classname="nsplugin" name="no problems in {report.files} files"/>\n  </testsuite>\n'
    for path, found in groupby(report.diagnostics, key=lambda diagnostic: diagnostic.path):
        cases = list(found)
        failures = sum(case.severity == "error" for case in cases)
        name = _attribute(from_root(report, path))
        yield f'  <testsuite name={name} tests="{len(cases)}" failures="{failures}" errors="0">\n'
        yield from (_case(case, name) for case in cases)
        yield "  </testsuite>\n"


def _case(diagnostic: Diagnostic, file: str) -> str:
    place = f"{diagnostic.line}:{diagnostic.column}" if diagnostic.line is not None else diagnostic.pointer or ""
    title = _attribute(f"{diagnostic.code} {diagnostic.name} {place}".rstrip())
    line = f' line="{diagnostic.line}"' if diagnostic.line is not None else ""
    text = "\n".join(filter(None, (diagnostic.message, diagnostic.hint and f"hint: {diagnostic.hint}")))
    if diagnostic.severity == "error":
        inner = f"<failure type={_attribute(diagnostic.code)} message={_attribute(diagnostic.message)}>{_text(text)}</failure>"
    else:
        inner = f"<system-out>{_text(f'warning: {text}')}</system-out>"
    return f'    <testcase classname="nsplugin" name={title} file={file}{line}>\n      {inner}\n    </testcase>\n'


def _legal(text: str) -> str:
    """XML 1.0 has no way to write most control characters, lone surrogates and noncharacters."""
    return "".join(character if _is_legal(ord(character)) else f"\\u{ord(character):04x}" for character in text)


def _is_legal(code: int) -> bool:
    return code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def _text(text: str) -> str:
    return escape(_legal(text))


def _attribute(text: str) -> str:
    return quoteattr(_legal(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
