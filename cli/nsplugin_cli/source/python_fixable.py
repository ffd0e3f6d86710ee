"""Where a text or a key may be rewritten: it stands in the call that uses it, so that no name shares it with other code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from nsplugin.spans import Span
from nsplugin_cli.source.python_text import Unreadable, decode, parse

_MAKERS: Final = frozenset(("define_plugin", "define_job", "Job", "Cron", "Route", "Schedule"))


def fixable_in_python(data: bytes) -> tuple[Span, ...]:
    """The spans of string literals and keywords written directly in the SDK's calls and in ``jobs.enqueue``."""
    try:
        text = decode(data)
        tree = parse(text)
    except Unreadable:
        return ()
    nodes = list(ast.walk(tree))
    makers = dict(_imported(nodes))
    calls = (node for node in nodes if isinstance(node, ast.Call) and _takes(node.func, makers))
    return tuple(text.name_span(node) for call in calls for node in _written_in(call))


def _imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """The SDK's makers by the names that they have here."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "nsplugin":
            for alias in node.names:
                if alias.name == "*":
                    yield from ((name, name) for name in _MAKERS)
                elif alias.name in _MAKERS:
                    yield alias.asname or alias.name, alias.name


def _takes(function: ast.expr, makers: dict[str, str]) -> bool:
    match function:
        case ast.Name(id=name):
            return name in makers
        case ast.Attribute(attr="enqueue", value=ast.Name(id="jobs") | ast.Attribute(attr="jobs")):
            return True
        case ast.Attribute(attr=name, value=ast.Name()):
            return name in _MAKERS
    return False


def _written_in(call: ast.Call) -> Iterator[ast.Constant | ast.keyword]:
    """The literals and keywords of a call, also those in lists and dicts written there; not what comes by a name."""
    pending: list[ast.AST | None] = [*call.args, *call.keywords]
    while pending:
        match pending.pop():
            case ast.Constant(value=str()) as literal:
                yield literal
            case ast.keyword(value=value) as keyword:
                pending.append(value)
                if keyword.arg is not None:
                    yield keyword
            case ast.Dict(keys=keys, values=values):
                pending += [*keys, *values]
            case ast.List(elts=items) | ast.Tuple(elts=items):
                pending += items
