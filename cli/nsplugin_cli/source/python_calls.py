"""Calls that are evaluated: the SDK's own, a few built-in functions, methods of strings, functions of one expression."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.python_arithmetic import MAX_LENGTH, MAX_ROUNDS, bounded
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_values import (
    SCALARS,
    Class,
    Entries,
    External,
    Function,
    Instance,
    Items,
    Keyword,
    Made,
    Method,
    Value,
    iterated,
    joined,
    settled,
    with_handler,
)

if TYPE_CHECKING:
    from nsplugin_cli.source.python_evaluate import Evaluator

MAKERS: Final = frozenset(("define_plugin", "define_job", "Job", "Cron", "Route", "Schedule"))
_SDK: Final = "nsplugin"


def called(evaluator: Evaluator, node: ast.Call, module: Module, scope: Scope) -> Any:
    """The result of a call."""
    function = evaluator.value(node.func, module, scope).data
    match function:
        case External(name=name):
            return _external(evaluator, node, module, scope, name)
        case Made() as made:
            return _applied(evaluator, made, node, module, scope)
        case Method(owner=owner, name=name):
            arguments, unsure = evaluator.sequence(node.args, module, scope)
            return UNKNOWN if unsure or node.keywords else _method(owner, name, arguments)
        case Function(opaque=False):
            return _returned(evaluator, function)
        case Class(node=ast.ClassDef(decorator_list=[], keywords=[])):
            return Instance(function)
    return UNKNOWN


def maker_of(name: str) -> str | None:
    """The SDK's definer or part that a dotted name is."""
    head, _, last = name.rpartition(".")
    return last if last in MAKERS and (head == _SDK or head.startswith(_SDK + ".")) else None


def _external(evaluator: Evaluator, node: ast.Call, module: Module, scope: Scope, name: str) -> Any:
    maker = maker_of(name)
    if maker is not None:
        return _made(evaluator, maker, node, module, scope)
    constant = _CONSTANTS.get(name)
    if constant is None:
        return External(name + "()")
    arguments, unsure = evaluator.sequence(node.args, module, scope)
    keywords = evaluator.keywords(node.keywords, module, scope)
    return UNKNOWN if unsure else constant(arguments, keywords)


def _made(evaluator: Evaluator, maker: str, node: ast.Call, module: Module, scope: Scope) -> Made:
    arguments, unsure = evaluator.sequence(node.args, module, scope)
    keywords = evaluator.keywords(node.keywords, module, scope)
    is_open = unsure or any(item.name is None for item in keywords)
    return Made(maker, module, () if unsure else arguments, keywords, is_open)


def _applied(evaluator: Evaluator, made: Made, node: ast.Call, module: Module, scope: Scope) -> Any:
    arguments, unsure = evaluator.sequence(node.args, module, scope)
    if unsure or len(arguments) != 1 or node.keywords:
        return UNKNOWN
    return with_handler(made, arguments[0]) or UNKNOWN


def _returned(evaluator: Evaluator, function: Function) -> Any:
    """What a plain function returns whose only ``return`` is its last statement. Its parameters are not known."""
    node = function.node
    if not isinstance(node, ast.FunctionDef):
        return UNKNOWN
    scope = function.module.scope(node)
    last = node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or scope.returns != 1 or scope.yields:
        return UNKNOWN
    loops, evaluator.loops = evaluator.loops, {}
    found = evaluator.value(last.value, function.module, scope)
    evaluator.loops = loops
    return found


def _dict(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
    pairs = list(arguments[0].data.pairs) if arguments and isinstance(arguments[0].data, Entries) else None
    if arguments and (pairs is None or len(arguments) > 1):
        return UNKNOWN
    named = [(_key(keyword), keyword.value) for keyword in keywords]
    return Entries(tuple(joined(pairs or [], named)))


def _key(keyword: Keyword) -> Value:
    data = UNKNOWN if keyword.name is None else keyword.name
    return Value(data, keyword.node, keyword.value.module)


def _sequence(kind: type) -> Callable[[tuple[Value, ...], tuple[Keyword, ...]], Any]:
    def make(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
        if keywords or len(arguments) > 1:
            return UNKNOWN
        items = iterated(arguments[0]) if arguments else ()
        return UNKNOWN if items is None else Items(kind, items)

    return make


def _scalar(function: Callable[..., Any]) -> Callable[[tuple[Value, ...], tuple[Keyword, ...]], Any]:
    def make(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
        return UNKNOWN if keywords else _applied_to(function, [argument.data for argument in arguments])

    return make


def _applied_to(function: Callable[..., Any], values: list[Any]) -> Any:
    if not all(isinstance(value, SCALARS) for value in values):
        return UNKNOWN
    try:
        return bounded(function(*values))
    except Exception:
        return UNKNOWN


def _length(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
    items = iterated(arguments[0]) if len(arguments) == 1 and not keywords else None
    return _scalar(len)(arguments, keywords) if items is None else len(items)


def _method(value: Value, name: str, arguments: tuple[Value, ...]) -> Any:
    owner = value.data
    if isinstance(owner, Entries):
        return _view(value, name) if not arguments else UNKNOWN
    if not isinstance(owner, str):
        return UNKNOWN
    if name in _TEXT_METHODS:
        return _applied_to(getattr(str, name), [owner, *(argument.data for argument in arguments)])
    parts = iterated(arguments[0]) if name == "join" and len(arguments) == 1 else None
    return UNKNOWN if parts is None else _joined(owner, [part.data for part in parts])


def _view(value: Value, name: str) -> Any:
    """The keys, values or items of a dict, as the tuple of what going through them gives."""
    if name not in _VIEWS or value.data.open:
        return UNKNOWN
    pairs = settled(value.data.pairs)
    return Items(tuple, tuple(_VIEWS[name](pair, value) for pair in pairs))


_VIEWS: Final[dict[str, Callable[[tuple[Value, Value], Value], Value]]] = {
    "keys": lambda pair, value: pair[0],
    "values": lambda pair, value: pair[1],
    "items": lambda pair, value: Value(Items(tuple, pair), value.node, value.module),
}


def _range(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
    bounds = [argument.data for argument in arguments]
    if keywords or not 1 <= len(bounds) <= 3 or not all(type(bound) is int for bound in bounds) or bounds[2:] == [0]:
        return UNKNOWN
    numbers = range(*bounds)
    if len(numbers) > MAX_ROUNDS:
        return UNKNOWN
    return Items(tuple, tuple(Value(number, arguments[0].node, arguments[0].module) for number in numbers))


def _enumerate(arguments: tuple[Value, ...], keywords: tuple[Keyword, ...]) -> Any:
    start = arguments[1].data if len(arguments) == 2 else 0
    items = iterated(arguments[0]) if 1 <= len(arguments) <= 2 and not keywords else None
    if items is None or type(start) is not int:
        return UNKNOWN
    return Items(tuple, tuple(_numbered(number, item) for number, item in enumerate(items, start)))


def _numbered(number: int, item: Value) -> Value:
    pair = Items(tuple, (Value(number, item.node, item.module), item))
    return Value(pair, item.node, item.module)


def _joined(separator: str, parts: list[Any]) -> Any:
    if not all(isinstance(part, str) for part in parts):
        return UNKNOWN
    length = sum(map(len, parts)) + len(separator) * len(parts)
    return separator.join(parts) if length <= MAX_LENGTH else UNKNOWN


_CONSTANTS: Final[dict[str, Callable[[tuple[Value, ...], tuple[Keyword, ...]], Any]]] = {
    "builtins.dict": _dict,
    "builtins.list": _sequence(list),
    "builtins.tuple": _sequence(tuple),
    "builtins.set": _sequence(set),
    "builtins.len": _length,
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    **{f"builtins.{kind.__name__}": _scalar(kind) for kind in (int, float, str, bool, abs, round, min, max)},
}
_TEXT_METHODS: Final = frozenset(("strip", "lstrip", "rstrip", "lower", "upper", "removeprefix", "removesuffix"))
