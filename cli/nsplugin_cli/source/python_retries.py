"""Whether a handler can ever raise ``RetryableError`` (spec/cogover.md X4)."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_reach import Reacher, is_caught
from nsplugin_cli.source.python_scopes import inner_scopes
from nsplugin_cli.source.python_uses import last_name
from nsplugin_cli.source.python_values import Function

_RETRYABLE: Final = "RetryableError"
_LASTING: Final = frozenset(
    ("ValueError", "TypeError", "KeyError", "AssertionError", "NotImplementedError", "ValidationError", "PermissionDeniedError")
)
"""Errors that another attempt would meet again: who raises them does not wait for one."""


def never_retryable(evaluator: Evaluator, handler: Function) -> bool:
    """Whether a handler fails in ways that could pass, and nothing that it runs names ``RetryableError``.

    Code that was not read (a module from elsewhere, a decorator, a value that was not evaluated) might raise it, so the
    answer is then no. The context's own services are taken to raise what their documentation says, which it is not. A handler
    that raises nothing may have its attempts for time-outs, which are retried, and one that only refuses bad data wants none.
    """
    reach = Reacher(evaluator).of(handler)
    return reach.complete and not any(map(_may_be_retryable, reach.externals)) and _fails_for_now(reach.functions)


def _may_be_retryable(name: str) -> bool:
    """Whether a dotted name is the error itself, or a whole module of the SDK's, through which it can be had."""
    head, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    return last == _RETRYABLE or (head == "nsplugin" and last in ("nsplugin", "cogover", "errors", "")) or rest == "*"


def _fails_for_now(functions: Iterable[Function]) -> bool:
    return any(
        not is_caught(statement, function.module) and _could_pass(statement, function.module)
        for function in functions
        for scope in inner_scopes(function.module.scope(function.node))
        for statement in scope.raises
    )


def _could_pass(statement: ast.Raise, module: Module) -> bool:
    """Whether what is raised is more than a refusal of bad data: a failure of something else, or an error of its own kind."""
    node: ast.AST | None = statement
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(node, ast.ExceptHandler):
            return not isinstance(node.type, ast.Name) or node.type.id not in _LASTING
        node = module.parent(node)
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised is None or last_name(raised) not in _LASTING
