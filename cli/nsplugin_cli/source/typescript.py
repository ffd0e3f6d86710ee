"""Reads TypeScript and JavaScript plugins without running them: the platforms' own ``definePlugin`` and ``defineJob``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, Final

from tree_sitter import Node

from nsplugin import platforms
from nsplugin.handlers import MISSING, Handler
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import field, record
from nsplugin.spans import Position, SpanMap
from nsplugin_cli.facts import Timer
from nsplugin_cli.source.definition import Resolve, SourceDefinition, SourceFile
from nsplugin_cli.source.typescript_bytes import Unreadable, decode
from nsplugin_cli.source.typescript_facts import facts_of
from nsplugin_cli.source.typescript_handlers import described
from nsplugin_cli.source.typescript_lists import may_list_jobs
from nsplugin_cli.source.typescript_loading import is_made
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import Imported, Part
from nsplugin_cli.source.typescript_origins import Origins
from nsplugin_cli.source.typescript_results import OPAQUE, CallValue, FunctionValue, Located, Mapping, Members
from nsplugin_cli.source.typescript_scalars import pieces, undefined
from nsplugin_cli.source.typescript_text import ignores, syntax_fault
from nsplugin_cli.source.typescript_timers import timers
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_values import Evaluator

_OWN_HANDLER: Final = "handler"


def read_typescript(data: bytes, path: str, resolve: Resolve | None = None) -> SourceFile:
    """The definitions of one file. ``resolve`` finds the modules of the same repository; without it, imports are unknown.

    Never raises on bad input: a file that is no text, is too large or does not parse has one finding (NSP003) and nothing else.
    One that may only list the jobs of others has none: most such files have nothing to do with plugins.
    """
    lists = not _may_define(data) and may_list_jobs(data)
    try:
        text = decode(data)
    except Unreadable as unreadable:
        return SourceFile(path=path, unreadable=None if lists else unreadable.fault)
    module = Module(text, path)
    fault = syntax_fault(module)
    if fault is not None:
        return SourceFile(path=path, unreadable=None if lists else fault, ignores=ignores(module))
    reader = _Reader(module, resolve)
    definitions = tuple(reader.lists() if lists else reader.definitions() if _may_define(text) else ())
    return SourceFile(path=path, definitions=definitions, ignores=ignores(module))


@lru_cache(maxsize=16)
def _parsed(data: bytes, path: str) -> Module:
    """A module that other files import. Several files of a repository mostly import the same few."""
    return Module(decode(data), path)


def _may_define(data: bytes) -> bool:
    return any(name.encode() in data for name in _definers())


def _definers() -> dict[str, Platform]:
    """The definers' names in TypeScript: ``define_plugin`` is ``definePlugin`` there."""
    return {_camel(platform.layout.definer): platform for platform in platforms.every()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@record(kw_only=False, frozen=False)
class Shaped:
    """A definition in the making: raw values, their spans, handlers and the functions behind them."""

    spans: SpanMap = field(default_factory=SpanMap)
    handlers: dict[str, Handler] = field(default_factory=dict)
    functions: dict[str, FunctionValue] = field(default_factory=dict)
    elsewhere: list[FunctionValue] = field(default_factory=list)
    """Handlers that are judged in their own files, but for what they enqueue."""


@record(kw_only=False, frozen=False)
class _Shown:
    """What a list of jobs has shown so far: calls of its own file, and the keys of the jobs of others."""

    platform: Platform
    held: set[int]
    keys: set[tuple[str, str]] = field(default_factory=set)

    def first(self, path: str, key: str) -> bool:
        """Whether no job of that file had the key before: a second one is told there."""
        mark = path, key.lower()
        if mark in self.keys:
            return False
        self.keys.add(mark)
        return True


class _Reader:
    def __init__(self, module: Module, resolve: Resolve | None) -> None:
        self.module = module
        self.repository = resolve
        self.modules: dict[str, Module] = {module.path: module}
        self.definers = _definers()
        self.origins = Origins(self.resolve)
        self.evaluator = Evaluator(self.resolve, self.definer)

    @cached_property
    def started(self) -> tuple[Timer, ...]:
        """What loading the file starts."""
        return tuple(timers(self.module, self.origins))

    def resolve(self, source: str, path: str) -> Module | None:
        """The module of the repository that an import names; each file is parsed once, at most 50 of them."""
        if self.repository is None:
            return None
        found = self.repository(path, source)
        if found is None:
            return None
        name, data = found
        if name not in self.modules:
            if len(self.modules) > 50:
                return None
            try:
                self.modules[name] = _parsed(data, name)
            except Unreadable:
                return None
        return self.modules[name]

    def definer(self, module: Module, call: Node) -> str | None:
        """The definer that a call names, under whatever name it was imported."""
        function = call.child_by_field_name("function")
        if function is None or not self._may_name_definer(module, function):
            return None
        origin = self.origins.of(module, function)
        named = isinstance(origin, tuple) and len(origin) == 2 and origin[0] != "" and origin[1] in self.definers
        return origin[1] if named and isinstance(origin, tuple) else None

    def _may_name_definer(self, module: Module, function: Node) -> bool:
        """A quick look: most calls name something else."""
        if function.type == "identifier":
            bound = module.names.bound.get(module.text(function))
            return isinstance(bound, (Imported, Part)) or (
                isinstance(bound, Node) and plain(bound).type in ("identifier", "member_expression", "subscript_expression")
            )
        name, target = function.child_by_field_name("property"), function.child_by_field_name("object")
        if function.type != "member_expression" or name is None or target is None:
            return False
        whole = module.names.bound.get(module.text(target)) if target.type == "identifier" else None
        return module.text(name) in self.definers or (isinstance(whole, Imported) and whole.source.startswith("."))

    def definitions(self) -> Iterator[SourceDefinition]:
        """What the file defines: whole plugins, lists of jobs, and the jobs that no list of the file holds."""
        named = ((call, self.definer(self.module, call)) for call in self.module.calls)
        calls = [(call, name) for call, name in named if name is not None and is_made(self.module, call)]
        for call, name in calls:
            if self.definers[name].layout.jobs == "mapping":
                yield self._plugin(call, self.definers[name])
        for name, platform in self.definers.items():
            if platform.layout.jobs == "list":
                yield from self._job_lists([call for call, definer in calls if definer == name], platform)

    def lists(self) -> Iterator[SourceDefinition]:
        """The lists of jobs of a file that names no definer; its calls are not looked at."""
        for platform in self.definers.values():
            if platform.layout.jobs == "list":
                yield from self._job_lists([], platform)

    def _plugin(self, call: Node, platform: Platform) -> SourceDefinition:
        shaped = Shaped()
        arguments = _arguments(call)
        located = self.evaluator.evaluate(self.module, arguments[0]) if arguments else Located(Mapping(), call, self.module)
        raw = self._flatten(located, "", shaped)
        if not isinstance(raw, dict):
            raw = {UNKNOWN: UNKNOWN} if raw is UNKNOWN else {}
        for section in ("jobs", "routes"):
            self._own_handlers(located, section, shaped, platform)
        return self._definition(platform, self._attribute(call), raw, shaped, call)

    def _own_handlers(self, located: Located, section: str, shaped: Shaped, platform: Platform) -> None:
        """Handlers that stand inside the entries of a section, as in the platform's own examples."""
        entries = located.value.get(section) if isinstance(located.value, Mapping) else None
        for name, entry in entries.item.value.items() if entries and isinstance(entries.item.value, Mapping) else ():
            if name is not UNKNOWN and isinstance(entry.item.value, Mapping):
                pointer, around = join("", section, name), entry.item.value
                own = around.get(_OWN_HANDLER)
                if own is not None and not undefined(own.item.value):
                    self._handler(own.item, pointer, shaped, platform)
                elif UNKNOWN not in around:
                    shaped.handlers[pointer] = MISSING

    def _handler(self, item: Located, pointer: str, shaped: Shaped, platform: Platform) -> None:
        if item.value is UNKNOWN or isinstance(item.value, (CallValue, Members)):
            return
        shaped.handlers[pointer] = described(item, platform.handlers.whole)
        shown = item.node
        if isinstance(item.value, FunctionValue):
            shaped.functions[pointer] = item.value
            shown = shown.child_by_field_name("parameters") or shown.child_by_field_name("parameter") or shown
        if item.module is self.module:
            shaped.spans.values[pointer + "/handler"] = self.module.span(shown)

    def _job_lists(self, calls: list[Node], platform: Platform) -> Iterator[SourceDefinition]:
        held: set[int] = set()
        attribute, listed = self._exported_list(platform)
        if listed is not None:
            shaped = Shaped()
            shown = _Shown(platform, held)
            raw = {"jobs": [self._listed(item, join("/jobs", at), shaped, shown) for at, item in enumerate(listed.value)]}
            node = listed.node if listed.module is self.module else self.module.root
            shaped.spans.values[""] = shaped.spans.values["/jobs"] = self.module.span(node)
            yield self._definition(platform, attribute, raw, shaped, node)
        loose = [call for call in calls if call.id not in held]
        if loose:
            shaped = Shaped()
            items = [self._job(call, join("/jobs", at), shaped, platform) for at, call in enumerate(loose)]
            shaped.spans.values[""] = shaped.spans.values["/jobs"] = self.module.span(loose[0])
            yield self._definition(platform, None, {"jobs": [*items, UNKNOWN]}, shaped, loose[0])

    def _exported_list(self, platform: Platform) -> tuple[str, Located | None]:
        """The list of jobs that the file exports, and the name: the platform's, or else the default."""
        for name in (platform.layout.attribute, "default"):
            listed = self.evaluator.export(self.module, name) if name in self.module.names.exported else None
            if listed is not None and isinstance(listed.value, list) and self._holds_jobs(listed, platform):
                return name, listed
        return platform.layout.attribute, None

    def _holds_jobs(self, listed: Located, platform: Platform) -> bool:
        """Whether an exported array of that name is a list of jobs at all, and not something else called so."""
        definer = _camel(platform.layout.definer)
        return any(isinstance(item.value, CallValue) and item.value.definer == definer for item in listed.value)

    def _listed(self, item: Located, pointer: str, shaped: Shaped, shown: _Shown) -> Any:
        self._note(item, pointer, shaped)
        if not isinstance(item.value, CallValue):
            return self._flatten(item, pointer, shaped)
        if item.module is self.module:
            shown.held.add(item.node.id)
            return self._job(item.node, pointer, shaped, shown.platform)
        return self._listed_elsewhere(item, shaped, shown)

    def _listed_elsewhere(self, item: Located, shaped: Shaped, shown: _Shown) -> Any:
        """A job that is judged in its own file; here only its key counts, and what it enqueues (spec/cogover.md D3, D9)."""
        arguments = _arguments(item.node)
        handler = self.evaluator.evaluate(item.module, arguments[1]).value if len(arguments) > 1 else None
        if isinstance(handler, FunctionValue):
            shaped.elsewhere.append(handler)
        config = self.evaluator.evaluate(item.module, arguments[0]) if arguments else item
        raw = self._flatten(config, "", Shaped())
        key = raw.get("key", UNKNOWN) if isinstance(raw, dict) else UNKNOWN
        if not isinstance(key, str) or not shown.first(item.module.path, key):
            return UNKNOWN
        return {"key": key, UNKNOWN: UNKNOWN}

    def _job(self, call: Node, pointer: str, shaped: Shaped, platform: Platform) -> Any:
        arguments = _arguments(call)
        shaped.spans.values[pointer] = self.module.span(call)
        if not arguments:
            return {}
        if len(arguments) > 1:
            self._handler(self.evaluator.evaluate(self.module, arguments[1]), pointer, shaped, platform)
        elif arguments[0].type != "spread_element":
            shaped.handlers[pointer] = MISSING
        return self._flatten(self.evaluator.evaluate(self.module, arguments[0]), pointer, shaped)

    def _attribute(self, call: Node) -> str | None:
        """The export, or else the name, that holds a call's result."""
        for name, exported in self.module.names.exported.items():
            name_or_value = plain(exported) if isinstance(exported, Node) else exported
            if isinstance(name_or_value, Node) and name_or_value.type == "identifier":
                name_or_value = self.module.text(name_or_value)
            value = self.module.names.bound.get(name_or_value) if isinstance(name_or_value, str) else name_or_value
            if isinstance(value, Node) and value.start_byte <= call.start_byte and call.end_byte <= value.end_byte:
                return name
        return None

    def _definition(
        self, platform: Platform, attribute: str | None, raw: dict[Any, Any], shaped: Shaped, node: Node
    ) -> SourceDefinition:
        return SourceDefinition(
            platform=platform.name,
            attribute=attribute,
            raw=raw,
            spans=shaped.spans,
            handlers=shaped.handlers,
            path=self.module.path,
            call=self.module.span(node),
            facts=facts_of(shaped.functions, shaped.elsewhere, platform, self.evaluator, self.origins, self.started),
        )

    def _flatten(self, located: Located, pointer: str, shaped: Shaped) -> Any:
        """The plain value, with its spans noted by pointer. Functions inside the data are not known as values."""
        value = located.value
        self._note(located, pointer, shaped)
        if isinstance(value, Mapping):
            return dict(self._flat_entries(located, pointer, shaped))
        if isinstance(value, list):
            return [self._flatten(item, join(pointer, at), shaped) for at, item in enumerate(value)]
        return UNKNOWN if isinstance(value, OPAQUE) or undefined(value) else value

    def _flat_entries(self, located: Located, pointer: str, shaped: Shaped) -> Iterator[tuple[Any, Any]]:
        for name, entry in located.value.items():
            if name is UNKNOWN:
                yield UNKNOWN, UNKNOWN
                continue
            if name == _OWN_HANDLER and pointer.count("/") == 2 and pointer.startswith(("/jobs/", "/routes/")):
                continue
            if undefined(entry.item.value):
                continue
            inner = join(pointer, name)
            if entry.key is not None and located.module is self.module:
                shaped.spans.keys[inner] = self.module.span(entry.key)
            yield name, self._flatten(entry.item, inner, shaped)

    def _note(self, located: Located, pointer: str, shaped: Shaped) -> None:
        if located.module is not self.module:
            if located.used is not None and located.used[0] is self.module:
                shaped.spans.values[pointer] = self.module.span(located.used[1])
            return
        node = located.node
        shaped.spans.values[pointer] = self.module.span(node)
        if isinstance(located.value, str) and node.type in ("string", "template_string"):
            shaped.spans.texts[pointer] = lambda: _characters(self.module, node)


def _arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []


def _characters(module: Module, node: Node) -> list[Position]:
    """The position of each character of a string literal, and of its end; empty where text came in by substitution."""
    if any(child.type == "template_substitution" for child in node.named_children):
        return []
    places: list[Position] = []
    for text, start, end in pieces(module, node):
        here = module.position(start)
        if end - start == len(text):
            places.extend(Position(here.line, here.column + at) for at in range(len(text)))
        else:
            places.extend(_stepped(module, text, start, end))
    return [*places, module.position(node.end_byte - 1)]


def _stepped(module: Module, text: str, start: int, end: int) -> Iterator[Position]:
    """Positions in a part whose characters and bytes do not go one to one: an escape, or text beyond ASCII."""
    if len(text) <= 1 or module.data[start : start + 1] == b"\\":
        yield from (module.position(start) for _ in text)
        return
    for character in text:
        yield module.position(start)
        start += len(character.encode("utf-8", "surrogatepass"))
