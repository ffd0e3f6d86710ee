"""Comprehensions over what is known: each item evaluated with the loop's names standing for that item."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.python_arithmetic import MAX_ROUNDS
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_values import Entries, Items, Value, iterated, truth

if TYPE_CHECKING:
    from nsplugin_cli.source.python_evaluate import Evaluator


class _Unknown(Exception):
    """How the loop goes is not known."""


def listed(evaluator: Evaluator, node: ast.ListComp | ast.GeneratorExp, module: Module, scope: Scope) -> Any:
    """A list comprehension, or a generator expression taken as the tuple of what it gives."""
    kind = list if isinstance(node, ast.ListComp) else tuple
    rounds = _Rounds(evaluator, module, scope)
    try:
        return Items(kind, tuple(evaluator.value(node.elt, module, scope) for _ in rounds.of(node.generators)))
    except _Unknown:
        return UNKNOWN


def mapped(evaluator: Evaluator, node: ast.DictComp, module: Module, scope: Scope) -> Any:
    """A dict comprehension."""
    rounds = _Rounds(evaluator, module, scope)
    try:
        pairs = [
            (evaluator.value(node.key, module, scope), evaluator.value(node.value, module, scope))
            for _ in rounds.of(node.generators)
        ]
    except _Unknown:
        return UNKNOWN
    return Entries(tuple(pairs))


class _Rounds:
    """The rounds of a comprehension; during each, its names are bound in the evaluator."""

    def __init__(self, evaluator: Evaluator, module: Module, scope: Scope) -> None:
        self.evaluator = evaluator
        self.module = module
        self.scope = scope
        self.left = MAX_ROUNDS

    def of(self, generators: list[ast.comprehension]) -> Iterator[None]:
        """Go through the rounds of the first generator and, within each, of the others."""
        if not generators:
            yield None
            return
        first, *others = generators
        items = None if first.is_async else iterated(self.evaluator.value(first.iter, self.module, self.scope))
        if items is None:
            raise _Unknown
        for item in items:
            self.left -= 1
            if self.left < 0:
                raise _Unknown
            outside = self.evaluator.loops
            self.evaluator.loops = {**outside, **_targets(first.target, item)}
            try:
                if all(self._holds(test) for test in first.ifs):
                    yield from self.of(others)
            finally:
                self.evaluator.loops = outside

    def _holds(self, test: ast.expr) -> bool:
        found = truth(self.evaluator.value(test, self.module, self.scope).data)
        if found is None:
            raise _Unknown
        return found


def _targets(target: ast.expr, item: Value) -> dict[str, Value]:
    """What the names of a loop's target stand for in one round."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    parts = iterated(item) if isinstance(target, (ast.Tuple, ast.List)) else None
    if parts is None or not isinstance(target, (ast.Tuple, ast.List)) or len(parts) != len(target.elts):
        raise _Unknown
    found: dict[str, Value] = {}
    for inner, part in zip(target.elts, parts, strict=True):
        found |= _targets(inner, part)
    return found
