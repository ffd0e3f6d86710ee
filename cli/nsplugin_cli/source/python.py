"""Reads Python plugin sources without running them: definitions, the place of each pointer, and facts for the lint rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nsplugin.lazy import pattern
from nsplugin.platforms import Platform, every
from nsplugin.pointers import UNKNOWN
from nsplugin.spans import Span, SpanMap
from nsplugin_cli.source.definition import Resolve, SourceDefinition, SourceFile
from nsplugin_cli.source.python_calls import maker_of
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_facts import facts_of
from nsplugin_cli.source.python_layout import Layout
from nsplugin_cli.source.python_module import Module, Modules, read_module
from nsplugin_cli.source.python_scopes import Scope, Tree, inner_scopes
from nsplugin_cli.source.python_text import Unreadable, decode, parse
from nsplugin_cli.source.python_values import External, Function, Items, Made, Value
from nsplugin_cli.source.suppress import python_ignores

if TYPE_CHECKING:
    from nsplugin.definition.call_site import CallSite

_MENTIONS: Final = ("nsplugin", "define_plugin", "define_job")
_JOBS: Final = pattern(r"^jobs[ \t]*[:=]", re.MULTILINE)


@cache
def _platforms() -> dict[str, Platform]:
    """The platform of each definer."""
    return {platform.layout.definer: platform for platform in every()}


def read_python(data: bytes, path: str, resolve: Resolve | None = None, wanted: Sequence[str] = ()) -> SourceFile:
    """The definitions of a Python source file. Never raises on bad input, never runs or imports anything.

    ``resolve`` finds the repository's other modules (see :data:`~nsplugin_cli.source.definition.Resolve`); without it, what is
    imported is unknown. ``wanted``: the attributes that the module is to have, if it is an entry.
    """
    try:
        text = decode(data)
        tree = parse(text)
    except Unreadable as error:
        return SourceFile(path=path, unreadable=error.fault)
    ignores = python_ignores(text.source) if "nsplugin" in text.source else ()
    if not wanted and not _mentions_us(text.source):
        return SourceFile(path=path, ignores=ignores)
    reader = _Reader(Module(path, text, Tree(tree)), resolve)
    definitions = tuple(reader.definitions())
    missing = bool(wanted) and reader.lacks(wanted)
    instead = None if missing or not wanted else reader.instead(wanted, definitions)
    reader.release()
    return SourceFile(path=path, definitions=definitions, ignores=ignores, lacks=missing, instead=instead)


def _mentions_us(source: str) -> bool:
    """A file that does not defines nothing: it is parsed, for its syntax, and no more."""
    return any(word in source for word in _MENTIONS) or _JOBS.search(source) is not None


def spans_of_call(data: bytes, site: CallSite) -> SpanMap:
    """Where the parts of one call of the SDK's stand, by pointers relative to what the call makes.

    For ``define_plugin`` those are pointers into the manifest, for ``define_job`` into its configuration, for ``Job``,
    ``Cron``, ``Route`` and ``Schedule`` into their options. The map is never empty: at the least, "" is the place of the call.
    """
    try:
        module = read_module(site.path, data)
    except Unreadable:
        return SpanMap({"": Span(site.line, 1, site.line, 1)})
    reader = _Reader(module, None)
    for call, scope in _calls(module.root):
        if _stands_at(call, site):
            value = reader.value(call, scope)
            if isinstance(value.data, Made):
                return reader.spans(value, value.data)
    return SpanMap({"": _span_of_site(module, site)})


def _stands_at(call: ast.Call, site: CallSite) -> bool:
    if site.column is None or site.end_line is None or site.end_column is None:
        return call.lineno == site.line
    place = (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
    return place == (site.line, site.column, site.end_line, site.end_column)


def _span_of_site(module: Module, site: CallSite) -> Span:
    lines = module.text.lines
    line = min(site.line, len(lines))
    if site.column is None or site.end_line is None or site.end_column is None or site.end_line > len(lines):
        return Span(line, 1, line, len(lines[line - 1]) + 1)
    end = module.text.column(site.end_line, site.end_column)
    return Span(line, module.text.column(line, site.column), site.end_line, end)


def _calls(root: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    """Every call in a module, with its scope."""
    return ((call, scope) for scope in inner_scopes(root) for call in scope.calls)


class _Reader:
    """Finds and lays out the definitions of one module."""

    def __init__(self, module: Module, resolve: Resolve | None) -> None:
        self.module = module
        modules = Modules(resolve)
        modules.add(module)
        self.evaluator = Evaluator(modules)
        self._first = True

    def release(self) -> None:
        """Let go of the tree and of all that was found in it. The definitions and their spans need none of it."""
        self.evaluator.release()
        self.module.tree.release()

    def lacks(self, names: Sequence[str]) -> bool:
        """Whether the module surely has no attribute of these names."""
        if any(name in self.module.root.stores for name in names):
            return False
        from nsplugin_cli.source.python_entry import lacks

        return lacks(self.module, self.evaluator.modules, names)

    def instead(self, names: Sequence[str], definitions: Iterable[SourceDefinition]) -> tuple[str, str, Span] | None:
        """What stands in those attributes and surely is no definition; a look at the definitions is mostly enough."""
        held = [definition.raw.get("jobs") for definition in definitions if definition.attribute in names]
        if any(not isinstance(jobs, list) or UNKNOWN not in jobs for jobs in held):
            return None
        from nsplugin_cli.source.python_entry import held_instead

        return held_instead(self.module, self.evaluator, names)

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression is."""
        return self.evaluator.value(node, self.module, scope)

    def spans(self, value: Value, made: Made) -> SpanMap:
        """The spans of one call, by pointers relative to what it makes."""
        platform = _platforms().get(made.maker) or next(iter(_platforms().values()))
        layout = Layout(platform, self.evaluator, self.module)
        if made.maker not in _platforms():
            layout.part(value, made, "")
        elif platform.layout.jobs == "mapping":
            layout.plugin(value, made)
        else:
            layout.job(value, made, "")
        return layout.spans

    def definitions(self) -> Iterator[SourceDefinition]:
        """Every definition: plugins in the order of their calls, then the lists of jobs."""
        found = list(self._defined())
        for platform in _platforms().values():
            own = {call: value for call, value in found if value.data.maker == platform.layout.definer}
            if platform.layout.jobs == "mapping":
                yield from (self._plugin(platform, call, value) for call, value in own.items())
            else:
                yield from self._lists(platform, own)

    def _defined(self) -> Iterator[tuple[ast.Call, Value]]:
        """The calls of definers that loading the module runs, and what they make."""
        root = self.module.root
        for call in sorted(root.calls, key=lambda call: (call.lineno, call.col_offset)):
            if self._may_define(call, root):
                value = self._made_by(call, root)
                if isinstance(value.data, Made) and value.data.maker in _platforms():
                    yield call, value

    def _may_define(self, call: ast.Call, scope: Scope) -> bool:
        holder = self.module.parent(call)
        if isinstance(holder, ast.Call) and holder.func is call:
            return False
        function = self.value(call.func, scope).data
        if isinstance(function, External):
            return maker_of(function.name) in _platforms()
        return isinstance(function, (Made, Function))

    def _made_by(self, call: ast.Call, scope: Scope) -> Value:
        holder = self.module.parent(call)
        if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)) and call is holder.decorator_list[0]:
            value = self.evaluator.function(holder, self.module, scope)
            if isinstance(value, Value) and isinstance(value.data, Made):
                return value
        return self.value(call, scope)

    def _plugin(self, platform: Platform, call: ast.Call, value: Value) -> SourceDefinition:
        layout = Layout(platform, self.evaluator, self.module)
        raw = layout.plugin(value, value.data)
        return self._definition(layout, raw, self._name_of(call), value.node)

    def _lists(self, platform: Platform, own: dict[ast.Call, Value]) -> Iterator[SourceDefinition]:
        if not own and platform.layout.attribute not in self.module.root.stores:
            return
        left = {value.node: value for value in own.values()}
        for name, value in self._named_lists(platform, bool(own)):
            layout = Layout(platform, self.evaluator, self.module)
            items = value.data.items if isinstance(value.data, Items) else _with_more(left.values(), value)
            raw = {"jobs": layout.jobs(value, items)}
            for item in items:
                left.pop(item.node, None)
            yield self._definition(layout, raw, name, value.node)
        if left:
            layout = Layout(platform, self.evaluator, self.module)
            first = next(iter(left.values()))
            raw = {"jobs": layout.jobs(first, _with_more(left.values(), first))}
            yield self._definition(layout, raw, None, first.node)

    def _named_lists(self, platform: Platform, defines: bool) -> Iterator[tuple[str, Value]]:
        """The module's lists of jobs: the one under the platform's own name, or else each that holds a job."""
        root, own = self.module.root, platform.layout.attribute
        names = [own] if own in root.stores else [name for name in root.stores if defines and self._is_list(name)]
        for name in names:
            if isinstance(root.stores[name][0], ast.Name):
                value = self.evaluator.names.bound(name, self.module, root)
                data = value.data if isinstance(value, Value) else value
                if isinstance(data, Items) and any(_is_made(item, platform.layout.definer) for item in data.items):
                    yield name, value
                elif name == own and defines and not isinstance(data, Items):
                    yield name, Value(UNKNOWN, root.stores[name][0], self.module)

    def _is_list(self, name: str) -> bool:
        """Whether a name of the module is bound to what is written as a list."""
        match self.module.parent(self.module.root.stores[name][0]):
            case ast.Assign(value=ast.List() | ast.Tuple() | ast.BinOp()) | ast.AnnAssign(value=ast.List() | ast.Tuple()):
                return True
        return False

    def _name_of(self, call: ast.Call) -> str | None:
        """The module attribute that a call's result is assigned to."""
        match self.module.parent(call):
            case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name
            case ast.NamedExpr(target=ast.Name(id=name)):
                return name
        return None

    def _definition(self, layout: Layout, raw: dict[Any, Any], name: str | None, node: ast.AST) -> SourceDefinition:
        facts = facts_of(self.evaluator, self.module, layout, raw, loading=self._first)
        self._first = False
        return SourceDefinition(
            platform=layout.platform.name,
            attribute=name,
            raw=raw,
            spans=layout.spans,
            handlers=layout.handlers,
            problems=tuple(layout.problems),
            path=self.module.path,
            call=self.module.text.span_of(node),
            facts=facts,
        )


def _is_made(value: Value, definer: str) -> bool:
    return isinstance(value.data, Made) and value.data.maker == definer


def _with_more(jobs: Iterable[Value], at: Value) -> tuple[Value, ...]:
    """Jobs of a list that may hold others too."""
    return (*jobs, Value(UNKNOWN, at.node, at.module))
