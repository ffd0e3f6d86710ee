"""The arguments of a TypeScript call of ``enqueue``: as far as they are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.facts import Argument, Enqueue, Lost
from nsplugin_cli.source.typescript_module import UNBOUND, Module
from nsplugin_cli.source.typescript_results import OPAQUE, FunctionValue, Located, Mapping
from nsplugin_cli.source.typescript_scalars import undefined
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_values import Evaluator


def enqueue(evaluator: Evaluator, module: Module, call: Node, function: Node) -> Enqueue:
    """What a call says."""
    arguments = call.child_by_field_name("arguments")
    given = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
    spread = any(child.type == "spread_element" for child in given)
    job, payload, options = [*([] if spread else given), None, None, None][:3]
    found, further = _options(evaluator, module, options)
    unknown = Argument(value=UNKNOWN, span=module.span(call))
    return Enqueue(
        method=_written(module, function),
        path=module.path,
        span=module.span(call),
        job=unknown if spread else _argument(evaluator, module, job),
        payload=unknown if spread else _argument(evaluator, module, payload),
        options=found,
        open=further or spread,
        lost=tuple(_lost(evaluator, module, payload)) if payload is not None else (),
    )


def _written(module: Module, function: Node) -> str:
    return "".join(module.text(function).replace("?.", ".").replace("!", "").split())


def _argument(evaluator: Evaluator, module: Module, node: Node | None) -> Argument | None:
    if node is None:
        return None
    located = evaluator.evaluate(module, node)
    if undefined(located.value):
        return None
    return Argument(value=plain_value(located), span=module.span(node), written=module.text(node)[:80])


def _options(evaluator: Evaluator, module: Module, node: Node | None) -> tuple[dict[str, Argument], bool]:
    located = evaluator.evaluate(module, node) if node is not None else None
    if node is None or located is None or undefined(located.value):
        return {}, False
    if not isinstance(located.value, Mapping):
        return {}, True
    found = {}
    for name, entry in located.value.items():
        here = entry.item.node if entry.item.module is module else node
        if name is not UNKNOWN and not undefined(entry.item.value):
            key = entry.key if entry.key is not None and located.module is module else here
            found[name] = Argument(value=plain_value(entry.item), span=module.span(here), written=name, named=module.span(key))
    return found, UNKNOWN in located.value


def plain_value(located: Located) -> Any:
    """The value without places: dicts and lists of plain values, ``UNKNOWN`` for what is none.

    A key whose value is not known is left out, since it may be ``undefined``, which JSON leaves out; the key ``UNKNOWN`` stays.
    """
    value = located.value
    if isinstance(value, Mapping):
        found = {name: plain_value(entry.item) for name, entry in value.items() if not undefined(entry.item.value)}
        known = {name: item for name, item in found.items() if item is not UNKNOWN}
        return known if len(known) == len(found) else {**known, UNKNOWN: UNKNOWN}
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    return UNKNOWN if isinstance(value, OPAQUE) or undefined(value) else value


_MADE: Final = {
    "Date": ("a Date is not JSON: it would become a text", "pass date.toISOString() or date.getTime()"),
    "Map": ("a Map is not JSON: it would become {}", "pass Object.fromEntries(map)"),
    "Set": ("a Set is not JSON: it would become {}", "pass [...set]"),
    "WeakMap": ("a WeakMap is not JSON: it would become {}", None),
    "WeakSet": ("a WeakSet is not JSON: it would become {}", None),
    "RegExp": ("a regular expression is not JSON: it would become {}", "pass its source as a text"),
    "Error": ("an Error is not JSON: it would become {}", "pass its message"),
    "Promise": ("a Promise is not JSON: it would become {}", "await it first"),
}
_LITERALS: Final = {
    "regex": _MADE["RegExp"],
    "class": ("a class is not JSON: it would be left out", None),
}
_FUNCTION: Final = ("a function is not JSON: it would be left out", None)
_BIGINT: Final = ("a bigint is not JSON: the call would throw", "pass it as a text")
_UNDEFINED: Final = ("undefined is not JSON: it would be left out, or become null in a list", "pass null, or leave it out")
_NUMBER: Final = ("{} is not JSON: it would become null", "pass null, or leave it out")


def _lost(evaluator: Evaluator, module: Module, payload: Node) -> Iterator[Lost]:
    """What JSON would change or lose in a payload that is written in this file (spec/nextskin.md E2, spec/cogover.md E3)."""
    located = evaluator.evaluate(module, payload)
    if undefined(located.value):
        return
    pending = [located]
    while pending:
        item = pending.pop()
        if item.module is not module:
            continue
        if isinstance(item.value, Mapping):
            pending.extend(entry.item for entry in reversed(item.value.values()))
        elif isinstance(item.value, list):
            pending.extend(reversed(item.value))
        else:
            why = _why_lost(module, item)
            if why is not None:
                yield Lost(message=why[0], hint=why[1], span=module.span(item.node), path=module.path)


def _why_lost(module: Module, item: Located) -> tuple[str, str | None] | None:
    node, value = plain(item.node), item.value
    if isinstance(value, FunctionValue):
        return _FUNCTION
    if undefined(value):
        return _UNDEFINED
    if isinstance(value, float) and not math.isfinite(value):
        shown = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return _NUMBER[0].format(shown), _NUMBER[1]
    if node.type == "number" and module.text(node).endswith("n"):
        return _BIGINT
    if node.type == "new_expression":
        made = node.child_by_field_name("constructor")
        name = module.text(made) if made is not None else ""
        return _MADE.get(name) if made is not None and module.binding(made, name) is UNBOUND else None
    return _LITERALS.get(node.type)
