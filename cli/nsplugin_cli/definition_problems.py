"""From the findings on a definition that was run to the source lines of the calls that made it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nsplugin.definition.call_site import CallSite
from nsplugin.platforms import every
from nsplugin.record import replace
from nsplugin.rules._family import Problem
from nsplugin.spans import SpanMap
from nsplugin_cli import sources
from nsplugin_cli.source.discover import Target
from nsplugin_cli.source.python import spans_of_call


def problems(detail: Mapping[str, Any], target: Target) -> Iterator[tuple[str, Problem]]:
    """Each finding of the child's report with its file and, where a definer's call shows it, its span."""
    calls = {pointer: _site(site) for pointer, site in detail.get("calls", {}).items()}
    for values in detail.get("problems", ()):
        yield _placed(Problem(**values), calls, target)
    for other in detail.get("others", ()):
        own = {} if other["call"] is None else {"": _site(other["call"])}
        for values in other["problems"]:
            yield _placed(Problem(**values), own, target)


def _site(values: list[Any]) -> CallSite:
    path, line, column, end_line, end_column = values
    return CallSite(path=path, line=line, column=column, end_line=end_line, end_column=end_column)


def _placed(problem: Problem, calls: Mapping[str, CallSite], target: Target) -> tuple[str, Problem]:
    """In the innermost call that shows the pointer itself, else in the project file, or the nearest call around it."""
    around = sorted((base for base in calls if _within(problem.pointer, base)), key=len, reverse=True)
    maps = [(base, spans_of_call(sources.read(calls[base].path), calls[base])) for base in around]
    exact = [(base, spans) for base, spans in maps if _shows(spans, problem, base)]
    if not exact and problem.code != "NSP001" and target.project.file is not None:
        given = target.project.spans.get(problem.pointer[1:])
        if given is not None:
            return target.project.file, replace(problem, span=given)
    for base, spans in [*exact, *maps][:1]:
        span = replace(problem, pointer=problem.pointer[len(base) :]).placed(spans).span
        return calls[base].path, replace(problem, span=span)
    return target.place, _where_assigned(problem, target)


def _where_assigned(problem: Problem, target: Target) -> Problem:
    """What no call shows is where the module assigns its definition: a list as a whole, or the item that is no job."""
    if target.file is None or problem.code == "NSP001":
        return problem
    names = [target.attribute] if target.attribute else [platform.layout.attribute for platform in every()]
    index = re.match(r"/jobs/(\d+)", problem.pointer)
    span = sources.span_of_assignment(target.file, names, int(index[1]) if index else None)
    return problem if span is None else replace(problem, span=span)


def _within(pointer: str, base: str) -> bool:
    return pointer == base or pointer.startswith(base + "/")


def _shows(spans: SpanMap, problem: Problem, base: str) -> bool:
    known: Iterable[str] = spans.keys if problem.target == "key" else spans.values
    return problem.pointer[len(base) :] in known
