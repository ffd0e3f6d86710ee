"""SARIF 2.1.0, the exchange format of static analysis (OASIS), as code hosts and editors read it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from nsplugin_cli import __version__
from nsplugin_cli.report.places import from_root

if TYPE_CHECKING:
    from nsplugin.rules._family import Rule
    from nsplugin_cli.diagnostic import Diagnostic, Report

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT: Final = "SRCROOT"
MAX_LINE: Final = 1_000
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def render(report: Report) -> str:
    """One log with one run; each rule's documentation travels along, whether it found something or not."""
    from nsplugin_cli.catalogue import rules

    known = rules()
    index = {rule.code: at for at, rule in enumerate(known)}
    seen: Counter[str] = Counter()
    lines = {path: [_identity(line.strip()) for line in _LINE_END.split(text)] for path, text in report.sources.items()}
    run = {
        "tool": {"driver": {"name": "nsplugin", "semanticVersion": __version__, "rules": [_rule(rule) for rule in known]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [
            _result(diagnostic, from_root(report, diagnostic.path), index, _line(lines, diagnostic), seen)
            for diagnostic in report.diagnostics
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True) + "\n"


def _rule(rule: Rule[Any]) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": _pascal(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": rule.severity},
        "help": {"text": _help(rule, "{}"), "markdown": _help(rule, "```python\n{}\n```")},
        "properties": {"tags": [rule.name], "precision": "very-high"},
    }


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _help(rule: Rule[Any], block: str) -> str:
    bad, good = (block.format(example.rstrip()) for example in (rule.bad, rule.good))
    return f"{rule.summary}\n\n{rule.why}\n\nBad:\n\n{bad}\n\nGood:\n\n{good}\n\nSource: {rule.source}"


def _identity(line: str) -> str:
    """A line as fingerprints take it; of a long one, which all findings of a file may stand in, its digest."""
    return line if len(line) <= MAX_LINE else hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def _line(lines: dict[str, list[str]], diagnostic: Diagnostic) -> str:
    own = lines.get(diagnostic.path, [])
    return own[diagnostic.line - 1] if diagnostic.line is not None and diagnostic.line <= len(own) else ""


def _result(diagnostic: Diagnostic, path: str, index: dict[str, int], line: str, seen: Counter[str]) -> dict[str, Any]:
    text = diagnostic.message + (f"\nhint: {diagnostic.hint}" if diagnostic.hint else "")
    result: dict[str, Any] = {"ruleId": diagnostic.code}
    if diagnostic.code in index:
        result["ruleIndex"] = index[diagnostic.code]
    return result | {
        "level": diagnostic.severity,
        "message": {"text": _sound(text)},
        "locations": [_location(diagnostic, path)],
        "partialFingerprints": {"nsplugin/v1": _fingerprint(diagnostic, path, line, seen)},
    }


def _location(diagnostic: Diagnostic, path: str) -> dict[str, Any]:
    artifact: dict[str, Any] = {"uri": quote(_sound(path), safe="/")}
    if not path.startswith(("/", "<", "../")):
        artifact["uriBaseId"] = ROOT
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if diagnostic.line is not None:
        physical["region"] = _region(diagnostic)
    location: dict[str, Any] = {"physicalLocation": physical}
    if diagnostic.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": _sound(diagnostic.pointer), "kind": "member"}]
    return location


def _region(diagnostic: Diagnostic) -> dict[str, Any]:
    region = {
        "startLine": diagnostic.line,
        "startColumn": diagnostic.column,
        "endLine": diagnostic.end_line,
        "endColumn": diagnostic.end_column,
    }
    return {key: value for key, value in region.items() if value is not None}


def _fingerprint(diagnostic: Diagnostic, path: str, line: str, seen: Counter[str]) -> str:
    """Stays the same when lines move: made of the code, the file, the pointer and the line's own text, not its number."""
    parts = "\0".join((diagnostic.code, path, diagnostic.pointer or "", line))
    seen[parts] += 1
    return hashlib.sha256(f"{parts}\0{seen[parts]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _sound(text: str) -> str:
    """Lone surrogates would make the document one that other readers refuse."""
    return text.encode("utf-8", "replace").decode()
