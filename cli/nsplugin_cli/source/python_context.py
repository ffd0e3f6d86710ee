"""Follows a handler's arguments through its code and the repository's functions that they are passed to."""

from __future__ import annotations

import ast
from functools import cache
from typing import Final

from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN
from nsplugin_cli.facts import Argument, ContextUse, Enqueue
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_layout import Layout
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_uses import loads
from nsplugin_cli.source.python_values import SCALARS, Entries, External, Function, Items, Keyword, Value

Path = tuple[str, ...]
"""What a name stands for, from the handler's arguments on: ``("ctx", "jobs")``. The empty path is all of them in one object."""

MAX_FOLLOWED: Final = 500
_LOOKS: Final = frozenset(("isinstance", "print", "repr", "id", "type", "hasattr", "callable", "bool"))
_LATER: Final = frozenset(("functools.partial", "asyncio.to_thread"))
"""Take a function and its arguments."""


class Follower:
    """Follows the arguments of the handlers of one definition, and gathers what is done with them.

    Only what is on the way to the method that enqueues is followed (``ctx``, ``ctx.jobs``); ``steps`` says how far it is.
    """

    def __init__(self, platform: Platform, evaluator: Evaluator) -> None:
        self.platform = platform
        self.evaluator = evaluator
        self.method: Path = tuple(platform.enqueue.method.split("."))
        self.context = self.method[:-2]
        self.needs = platform.context.needs
        self.enqueues: list[Enqueue] = []
        self.uses: list[ContextUse] = []
        self.known = True
        self._seen: set[tuple[ast.AST, str, int]] = set()
        self._pending: list[tuple[Scope, Module, str, int]] = []

    def handler(self, value: Value, names: tuple[str, ...]) -> None:
        """Follow a handler that is called with arguments of these names."""
        function = value.data
        if not isinstance(function, Function):
            self.known = False
            return
        given = parameter_paths(function, names, self.platform.handlers.whole)
        if function.opaque or given is None:
            self.known = False
        for name, path in (given or {}).items():
            if path == self.method[: len(path)]:
                self._enter(function, name, len(path))
        self._run()

    def _enter(self, function: Function, name: str, steps: int) -> None:
        mark = (function.node, name, steps)
        if mark in self._seen:
            return
        self._seen.add(mark)
        scope = function.module.scope(function.node)
        if len(self._seen) > MAX_FOLLOWED or len(scope.stores.get(name, ())) != 1:
            self._lost(steps)
        else:
            self._pending.append((scope, function.module, name, steps))

    def _run(self) -> None:
        while self._pending:
            scope, module, name, steps = self._pending.pop()
            for node, where in loads(scope, name):
                self._use(node, where, module, steps)

    def _lost(self, steps: int) -> None:
        """The object so many steps on the way goes where it is not followed."""
        if steps <= len(self.context):
            self.known = False

    def _use(self, node: ast.expr, scope: Scope, module: Module, steps: int) -> None:
        """Follow one expression outwards: its attributes, the calls of them, the calls it is given to, its other names."""
        parents, method = module.tree.parents, self.method
        holder = parents.get(node)
        while (name := _member(node, holder)) is not None:
            node = holder  # type: ignore[assignment]  # what takes a part is an expression
            if name in self.needs and steps == len(self.context):
                self._note_use(node, module, name)
            if steps == len(method) or name != method[steps]:
                return
            steps += 1
            holder = parents.get(node)
        if isinstance(holder, ast.Call) and holder.func is node:
            if steps == len(method):
                self.enqueues.append(Call(self.platform, self.evaluator, module, scope).enqueue(holder))
        elif not self._passed_on(node, holder, scope, module, steps):
            self._lost(steps)

    def _note_use(self, node: ast.expr, module: Module, name: str) -> None:
        span = module.text.span(node)
        self.uses.append(ContextUse(attribute=name, written=".".join((*self.context, name)), path=module.path, span=span))

    def _passed_on(self, node: ast.expr, holder: ast.AST | None, scope: Scope, module: Module, steps: int) -> bool:
        """Whether what becomes of a whole object is known: it is looked at, gets another name, or goes to a known function."""
        match holder:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return self._alias(name, scope, module, steps)
            case ast.NamedExpr(target=ast.Name(id=name)):
                return self._alias(name, scope, module, steps) and steps > len(self.context)
            case ast.keyword(arg=str()) | ast.Starred():
                call = module.parent(holder)
                return isinstance(call, ast.Call) and self._given(call, holder, scope, module, steps)
            case ast.Call():
                return self._given(holder, node, scope, module, steps)
            case ast.Compare() | ast.BoolOp() | ast.If() | ast.IfExp() | ast.Expr() | ast.UnaryOp() | ast.Assert():
                return True
        return False

    def _alias(self, name: str, scope: Scope, module: Module, steps: int) -> bool:
        if len(scope.stores.get(name, ())) != 1 or scope.kind != "function":
            return False
        mark = (scope.node, name, steps)
        if mark not in self._seen:
            self._seen.add(mark)
            self._pending.append((scope, module, name, steps))
        return True

    def _given(self, call: ast.Call, argument: ast.AST, scope: Scope, module: Module, steps: int) -> bool:
        """Follow an argument into the function that is called with it."""
        arguments: list[ast.expr] = call.args
        data = self.evaluator.value(call.func, module, scope).data
        if isinstance(data, External):
            if data.name.removeprefix("builtins.") in _LOOKS:
                return True
            if data.name not in _LATER or not arguments:
                return False
            data, arguments = self.evaluator.value(arguments[0], module, scope).data, arguments[1:]
        if not isinstance(data, Function) or any(isinstance(item, ast.Starred) for item in arguments):
            return False
        if data.opaque and not data.bound:
            return False
        name = _parameter(data, argument, arguments)
        if name is None:
            return False
        self._enter(data, name, steps)
        return True


def _member(node: ast.expr, holder: ast.AST | None) -> str | None:
    """The name by which an expression takes a part of an object."""
    if type(holder) is ast.Attribute:
        return holder.attr if type(holder.ctx) is ast.Load else None
    match holder:
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name)), ctx=ast.Load()) if value is node:
            return name
    return None


def _parameter(function: Function, argument: ast.AST, arguments: list[ast.expr]) -> str | None:
    """The parameter that takes an argument of a call."""
    own = function.node.args
    if isinstance(argument, ast.keyword):
        names = [arg.arg for arg in (*own.args, *own.kwonlyargs)]
        return argument.arg if argument.arg in names else None
    places = [*own.posonlyargs, *own.args][1 if function.bound else 0 :]
    index = next((index for index, item in enumerate(arguments) if item is argument), len(places))
    return places[index].arg if index < len(places) else None


def parameter_paths(function: Function, names: tuple[str, ...], whole: str) -> dict[str, Path] | None:
    """What each parameter of a handler is called with; ``None`` when it also takes what it does not name."""
    own = function.node.args
    if own.kwarg is not None or own.vararg is not None:
        return None
    declared = [arg.arg for arg in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
    if whole and declared == [whole]:
        return {whole: ()}
    return {name: (name,) for name in declared if name in names}


class Call:
    """Reads the arguments of one call of ``enqueue``."""

    def __init__(self, platform: Platform, evaluator: Evaluator, module: Module, scope: Scope) -> None:
        self.platform = platform
        self.evaluator = evaluator
        self.module = module
        self.scope = scope

    def enqueue(self, call: ast.Call) -> Enqueue:
        """The call as a fact. With unpacked arguments that are not known, what they may be is unknown."""
        values, unsure = self.evaluator.sequence(call.args, self.module, self.scope)
        places = [] if unsure else self._places(call, values)
        given = [self._argument(value, node) for value, node in zip(values, places, strict=False)]
        named, options, further = self._named(call)
        if len(given) > 2:
            further |= self._mapping(values[2], places[2], options)
        job = given[0] if given else named.pop(self.platform.enqueue.job_argument, None)
        payload = given[1] if len(given) > 1 else named.pop("payload", None)
        if unsure:
            job = payload = Argument(value=UNKNOWN, span=self.module.text.span(call))
        return Enqueue(
            method=self.module.text.written(call.func),
            path=self.module.path,
            span=self.module.text.span(call),
            job=job,
            payload=payload,
            options=options,
            open=further or unsure,
            strays=tuple(named.values()),
        )

    def _named(self, call: ast.Call) -> tuple[dict[str, Argument], dict[str, Argument], bool]:
        """What is given by keyword: what is no option, by its keyword; options; and whether there may be more."""
        from nsplugin.runtime.enqueueing import option_names

        known = _by_keyword(option_names(self.platform.enqueue))
        named: dict[str, Argument] = {}
        options: dict[str, Argument] = {}
        further = False
        for keyword in self.evaluator.keywords(call.keywords, self.module, self.scope):
            if keyword.name is None:
                further = True
            elif keyword.name == "options":
                further |= self._mapping(keyword.value, call, options)
            else:
                into, name = (options, known[keyword.name]) if keyword.name in known else (named, keyword.name)
                into[name] = self._keyword(keyword, call)
        return named, options, further

    def _keyword(self, keyword: Keyword, call: ast.Call) -> Argument:
        """An argument given by keyword; an unpacked one stands where the call does."""
        name = keyword.name or ""
        if isinstance(keyword.node, ast.keyword) and keyword.node in call.keywords:
            return self._argument(keyword.value, keyword.node.value, name, keyword.node)
        return self._argument(keyword.value, call, name)

    def _places(self, call: ast.Call, values: tuple[Value, ...]) -> list[ast.AST]:
        """Where each argument stands; an unpacked one stands where the call does."""
        if any(isinstance(node, ast.Starred) for node in call.args):
            return [call for _ in values]
        return list(call.args)

    def _argument(self, value: Value, node: ast.AST, written: str = "", name: ast.AST | None = None) -> Argument:
        raw = value.data
        if isinstance(raw, (Entries, Items)):
            raw = Layout(self.platform, self.evaluator, self.module).place(value, "")
        elif not isinstance(raw, SCALARS):
            raw = UNKNOWN
        text = self.module.text
        return Argument(raw, text.span_of(node), written, None if name is None else text.name_span(name))

    def _mapping(self, value: Value, node: ast.AST, options: dict[str, Argument]) -> bool:
        """Take options from a mapping; whether it may hold others."""
        if value.data is None:
            return False
        if not isinstance(value.data, Entries):
            return True
        for key, item in value.data.pairs:
            if isinstance(key.data, str):
                place = item.node if item.module is self.module else node
                named = key.node if key.module is self.module else place
                options[key.data] = self._argument(item, place, key.data, named)
        return value.data.open


@cache
def _by_keyword(names: tuple[str, ...]) -> dict[str, str]:
    """The names of options by their keywords."""
    return {_snake(name): name for name in names}


def _snake(name: str) -> str:
    """An option's keyword: ``delaySec`` is ``delay_sec`` there."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
