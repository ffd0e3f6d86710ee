"""Secrets put into the messages of exceptions that handlers raise (spec/nextskin.md A5)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from nsplugin_cli.facts import SecretRaised
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_reach import is_caught
from nsplugin_cli.source.python_scopes import Scope, inner_scopes
from nsplugin_cli.source.python_values import External
from nsplugin_cli.source.secret_names import looks_secret

_ENVIRONMENT: Final = frozenset(("os.environ", "os.getenv", "os.environ.get"))


def secrets_raised(evaluator: Evaluator, module: Module, outer: Scope) -> Iterator[SecretRaised]:
    """The secrets in what the code of one scope raises, itself or in scopes inside it."""
    for scope in inner_scopes(outer):
        for statement in scope.raises:
            if not is_caught(statement, module):
                for node in _shown(statement.exc):
                    name = _Secrets(evaluator, module, scope).name(node)
                    if name is not None:
                        yield SecretRaised(name=name, path=module.path, span=module.text.span(node))


def _shown(node: ast.expr | None) -> Iterator[ast.expr]:
    """The expressions whose text becomes part of an exception's message."""
    pending: list[ast.expr] = [node] if isinstance(node, ast.Call) else []
    while pending:
        match pending.pop():
            case ast.Call() as call if call is node or _is_format(call):
                pending.extend([*call.args, *(keyword.value for keyword in call.keywords)])
            case ast.JoinedStr(values=values):
                pending.extend(values)
            case ast.FormattedValue(value=value):
                pending.append(value)
            case ast.BinOp(left=left, right=right):
                pending.extend([left, right])
            case ast.Tuple(elts=items) | ast.List(elts=items):
                pending.extend(items)
            case (ast.Name() | ast.Attribute() | ast.Subscript()) as found:
                yield found


def _is_format(call: ast.Call) -> bool:
    """Whether a call inside a message shows its arguments as they are: ``"…".format(x)``, ``str(x)``."""
    match call.func:
        case ast.Attribute(attr="format") | ast.Name(id="str" | "repr"):
            return True
    return False


class _Secrets:
    """Tells which expressions of one scope hold secrets: by their name, or by where their value comes from."""

    def __init__(self, evaluator: Evaluator, module: Module, scope: Scope) -> None:
        self.evaluator = evaluator
        self.module = module
        self.scope = scope

    def name(self, node: ast.expr) -> str | None:
        """The expression as written when it holds a secret, else ``None``."""
        match node:
            case ast.Name(id=last) | ast.Attribute(attr=last) | ast.Subscript(slice=ast.Constant(value=str(last))):
                held = looks_secret(last) or (isinstance(node, ast.Name) and self._comes_from_secrets(node))
                return self.module.text.written(node) if held else None
        return None

    def _comes_from_secrets(self, node: ast.Name) -> bool:
        stores = self.scope.stores.get(node.id, ())
        binding = self.module.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(binding, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) or binding.value is None:
            return False
        value = binding.value.value if isinstance(binding.value, ast.Await) else binding.value
        return self._reads_secret(value)

    def _reads_secret(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="secrets") as service)):
                return bool(self.evaluator.value(service, self.module, self.scope).data != External("secrets"))
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="secrets"))):
                return True
            case ast.Call(func=source, args=[ast.Constant(value=str(name)), *_]):
                return looks_secret(name) and self._is_environment(source)
            case ast.Subscript(value=source, slice=ast.Constant(value=str(name))):
                return looks_secret(name) and self._is_environment(source)
        return False

    def _is_environment(self, node: ast.expr) -> bool:
        data = self.evaluator.value(node, self.module, self.scope).data
        return isinstance(data, External) and data.name in _ENVIRONMENT
