"""Python sources under the static reader: one definition, the text at a place, and the findings that lint would have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from nsplugin.platforms import load
from nsplugin.pointers import UNKNOWN
from nsplugin.rules import Problem, check
from nsplugin.spans import Span
from nsplugin_cli.rules import family
from nsplugin_cli.rules.subject import SourceSubject
from nsplugin_cli.source.definition import Resolve, SourceDefinition
from nsplugin_cli.source.python import read_python

IMPORTS = "from nsplugin import Cron, Job, Route, define_plugin\nfrom nsplugin.cogover import Schedule, define_job\n"


def encoded(source: str | bytes) -> bytes:
    """A source as bytes; text is UTF-8."""
    return source.encode() if isinstance(source, str) else source


def definitions(source: str | bytes, resolve: Resolve | None = None) -> tuple[SourceDefinition, ...]:
    """The definitions of a source that parses."""
    file = read_python(encoded(source), "plugin.py", resolve)
    assert file.unreadable is None, file.unreadable
    return file.definitions


def definition(source: str | bytes, resolve: Resolve | None = None) -> SourceDefinition:
    """The only definition of a source."""
    (found,) = definitions(source, resolve)
    return found


def raw(source: str | bytes, resolve: Resolve | None = None) -> Mapping[Any, Any]:
    """The raw manifest of the only definition of a source."""
    return definition(source, resolve).raw


def value(expression: str, before: str = "") -> Any:
    """What an expression evaluates to where a plugin's id stands, below some statements."""
    return raw(f"{IMPORTS}{before}\nplugin = define_plugin(id={expression})\n")["id"]


def text_at(source: str | bytes, span: Span | None, encoding: str = "utf-8-sig") -> str:
    """The text that a span covers, by an editor's way of counting lines and columns."""
    assert span is not None
    text = encoded(source).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def repository(files: Mapping[str, str]) -> Resolve:
    """A resolver over files in memory: absolute imports start at the root, relative ones at the importing file's folder."""

    def resolve(importer: str, dotted: str) -> tuple[str, bytes] | None:
        name = dotted.lstrip(".")
        folder = PurePosixPath(importer).parent if name != dotted else PurePosixPath()
        path = folder.joinpath(*name.split("."))
        for candidate in (f"{path}/__init__.py", f"{path}.py"):
            if candidate in files:
                return candidate, files[candidate].encode()
        return None

    return resolve


def problems(source: str | bytes, resolve: Resolve | None = None) -> list[Problem]:
    """All findings on the definitions of a source, placed, in their order; the project file may give the id."""
    return findings_of(definitions(source, resolve))


def findings_of(found: Iterable[SourceDefinition]) -> list[Problem]:
    """All findings on definitions, placed, in their order."""
    return [problem for each in found for problem in _problems(each)]


def _problems(found: SourceDefinition) -> list[Problem]:
    whole = {
        "manifestVersion": 1,
        "platform": found.platform,
        **dict.fromkeys(("id", "version", "entry"), UNKNOWN),
        **found.raw,
    }
    subject = SourceSubject(
        raw=whole, platform=load(found.platform), origin="python", handlers=found.handlers, facts=found.facts
    )
    every = [*found.problems, *check(subject), *family.check(subject)]
    return [problem.placed(found.spans) for problem in every]


def codes(source: str | bytes, resolve: Resolve | None = None) -> list[str]:
    """The codes of all findings, sorted."""
    return sorted(problem.code for problem in problems(source, resolve))
