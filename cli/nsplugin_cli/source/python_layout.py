"""From what a definer was given to a raw manifest, the place of each of its pointers, and the handlers beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from nsplugin.definition.arguments import CONFIG, Bound, Signature
from nsplugin.definition.signatures import CRON, DEFINE_JOB, DEFINE_PLUGIN, JOB, PLACES, ROUTE, SCHEDULE
from nsplugin.findings import moved, problem
from nsplugin.handlers import Handler
from nsplugin.nearest import closest
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import replace
from nsplugin.rules._family import Problem
from nsplugin.spans import Characters, Position, Span, SpanMap, Target
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_handlers import described, name_of
from nsplugin_cli.source.python_models import NoSchema, schema_of
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_text import Text
from nsplugin_cli.source.python_values import (
    SCALARS,
    Class,
    Entries,
    Function,
    Items,
    Made,
    Value,
    settled,
)

MAX_POINTERS: Final = 200_000
"""A definition that unfolds to more values than this is cut off: what lies beyond is ``UNKNOWN``."""

_PARTS: Final = {part.name: part for part in (JOB, CRON, ROUTE, SCHEDULE)}
Reader = Callable[[Value, str], Any]
Given = dict[Any, tuple[Value, ast.AST]]
"""Arguments or entries by the manifest's key (or ``UNKNOWN``): the value, and what spells the key."""


class LazySpanMap(SpanMap):
    """A span map that is made when it is first asked: most definitions have no finding."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], tuple[dict[str, Span], dict[str, Span], dict[str, Characters]]]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in ("values", "keys", "texts"):
            raise AttributeError(name)
        self.values, self.keys, self.texts = self._make()
        return getattr(self, name)


class Layout:
    """Lays out one definition. ``handlers`` and ``functions``: what is known of each handler, and its value, by pointer."""

    def __init__(self, platform: Platform, evaluator: Evaluator, module: Module) -> None:
        self.platform = platform
        self.evaluator = evaluator
        self.module = module
        self.handlers: dict[str, Handler] = {}
        self.functions: dict[str, Value] = {}
        self.problems: list[Problem] = []
        self._values: dict[str, ast.AST] = {}
        self._keys: dict[str, ast.AST] = {}
        self._texts: dict[str, tuple[ast.AST, str]] = {}
        self._left = MAX_POINTERS

    @property
    def spans(self) -> SpanMap:
        """Where each pointer stands in the module. What was written in another module stands where this one uses it."""
        places = _Places(self.module.text, self._values, self._keys, self._texts)
        return LazySpanMap(places.spans)

    def plugin(self, value: Value, made: Made) -> dict[Any, Any]:
        """The raw manifest of ``define_plugin(…)``."""
        self._values[""] = value.node
        given = self._call(DEFINE_PLUGIN, made, "", "manifest")
        for key in [key for key in given if key in self.platform.layout.fields and key not in _OWN]:
            self._keys[join("", key)] = given.pop(key)[1]
            message = f"define_plugin takes no `{key}`: the build writes it"
            self._fault("NSP006", join("", key), message, "leave it out", "key")
        readers: dict[str, Reader] = {
            "jobs": lambda jobs, pointer: self._mapping(jobs, pointer, self._job),
            "cron": lambda cron, pointer: self._sequence(cron, pointer, self._cron),
            "routes": lambda routes, pointer: self._mapping(routes, pointer, self._route),
        }
        return self._read(given, "", readers)

    def job(self, value: Value, made: Made, pointer: str) -> Any:
        """The raw configuration of ``define_job(…)``, its handler kept beside it."""
        self._values[pointer] = value.node
        given = self._call(DEFINE_JOB, made, pointer, "job")
        handler, _ = given.pop("handler", (made.handler, None))
        if handler is not None or (made.arguments and not made.open):
            self._handler(handler, pointer)
        return self._read(given, pointer, {"schedule": self._schedule})

    def jobs(self, value: Value, items: Iterable[Value]) -> list[Any]:
        """The raw list of a project's jobs. One that another module defines is known by its key alone: it is judged there."""
        self._values[""] = self._values["/jobs"] = value.node
        return [self._listed(item, join("/jobs", index)) for index, item in enumerate(items)]

    def _listed(self, value: Value, pointer: str) -> Any:
        made = value.data
        if not isinstance(made, Made) or made.maker != self.platform.layout.definer:
            return self.place(value, pointer)
        if made.module is self.module:
            return self.job(value, made, pointer)
        self._at(value, pointer)
        return self._known_by_key(made, pointer)

    def _known_by_key(self, made: Made, pointer: str) -> Any:
        elsewhere = Layout(self.platform, self.evaluator, made.module)
        raw = elsewhere.job(Value(made, ast.Pass(), made.module), made, "")
        key, limit = raw.get("key"), self.platform.job_name
        if not isinstance(key, str) or len(key) > limit.max_length or not limit.matches(key):
            return UNKNOWN
        self.functions.update({pointer + below: value for below, value in elsewhere.functions.items()})
        return {"key": key, UNKNOWN: UNKNOWN}

    def part(self, value: Value, made: Made, pointer: str) -> Any:
        """The raw options of a part that stands alone (``Job(…)``)."""
        readers = {"Job": self._job, "Cron": self._cron, "Route": self._route, "Schedule": self._schedule}
        return readers[made.maker](value, pointer)

    def place(self, value: Value, pointer: str) -> Any:
        """The raw value of data, its parts placed one by one."""
        self._left -= 1
        if self._left < 0:
            return UNKNOWN
        if value.module is self.module:
            self._values[pointer] = value.node
        data = value.data
        if isinstance(data, str):
            self._texts[pointer] = (value.node, data)
            return data
        if isinstance(data, Entries):
            return self._read(_entries(data), pointer, {})
        if isinstance(data, Items):
            return self._items(data, pointer, self.place)
        return data if isinstance(data, SCALARS) else UNKNOWN

    def _items(self, data: Items, pointer: str, read: Reader) -> Any:
        items = [read(item, f"{pointer}/{index}") for index, item in enumerate(data.items)]
        if data.kind is not set:
            return data.kind(items)
        known = all(isinstance(item, SCALARS) for item in items)
        return set(items) if known else UNKNOWN

    def _mapping(self, value: Value, pointer: str, read: Reader) -> Any:
        if not isinstance(value.data, Entries):
            return self.place(value, pointer)
        self._at(value, pointer)
        found = _entries(value.data)
        self._named(found, pointer)
        return self._read(found, pointer, dict.fromkeys(found, read))

    def _sequence(self, value: Value, pointer: str, read: Reader) -> Any:
        if not isinstance(value.data, Items) or value.data.kind is set:
            return self.place(value, pointer)
        self._at(value, pointer)
        return list(self._items(value.data, pointer, read))

    def _job(self, value: Value, pointer: str) -> Any:
        return self._handled(value, pointer, "Job", {"payloadSchema": self._payload_schema})

    def _route(self, value: Value, pointer: str) -> Any:
        return self._handled(value, pointer, "Route", {})

    def _cron(self, value: Value, pointer: str) -> Any:
        given = self._options(value, pointer, "Cron")
        return self.place(value, pointer) if given is None else self._read(given, pointer, {})

    def _schedule(self, value: Value, pointer: str) -> Any:
        given = self._options(value, pointer, "Schedule")
        return self.place(value, pointer) if given is None else self._read(given, pointer, {})

    def _handled(self, value: Value, pointer: str, part: str, readers: Mapping[str, Reader]) -> Any:
        if isinstance(value.data, Function) and not value.data.opaque:
            self._at(value, pointer)
            return self._misplaced(name_of(value.data), pointer, part)
        given = self._options(value, pointer, part)
        if given is None:
            return self.place(value, pointer)
        handler, _ = given.pop("handler", (None, None))
        if handler is not None or UNKNOWN not in given:
            self._handler(handler, pointer)
        return self._read(given, pointer, readers)

    def _handler(self, handler: Value | None, pointer: str) -> None:
        self.handlers[pointer] = described(handler)
        if handler is not None:
            self.functions[pointer] = handler
            self._at(handler, pointer + "/handler")

    def _options(self, value: Value, pointer: str, part: str) -> Given | None:
        """The options of a part, or of the mapping in its place; ``None`` for anything else."""
        data = value.data
        if isinstance(data, Made) and data.maker in _PARTS:
            self._at(value, pointer)
            if data.maker == part:
                return self._arguments(_PARTS[part], data, pointer, PLACES[part])
            self._misplaced(f"a {data.maker}", pointer, part)
            return None
        if not isinstance(data, Entries):
            return None
        self._at(value, pointer)
        found = _entries(data)
        self._named(found, pointer)
        return found

    def _call(self, signature: Signature, made: Made, pointer: str, place: str) -> Given:
        """The arguments of a definer, those of its one mapping and those given by name together."""
        given = self._arguments(signature, made, pointer, place)
        if CONFIG.key not in given:
            return given
        config, _ = given.pop(CONFIG.key)
        if not isinstance(config.data, Entries):
            return {**self._not_a_mapping(config, signature, pointer), **given}
        found = _entries(config.data)
        self._named(found, pointer)
        if "handler" in found and signature is DEFINE_JOB:
            self._handler_inside(found, given, pointer)
        for key in [key for key in found if key in given and key is not UNKNOWN]:
            message = f"`{key}` is given in the mapping and by name"
            self._fault("NSP006", join(pointer, key), message, "give it once", "value")
        return {**found, **given}

    def _handler_inside(self, found: Given, given: Given, pointer: str) -> None:
        """Take a handler out of the configuration, where it does not belong."""
        inside = found.pop("handler")
        self._keys[pointer + "/handler"] = inside[1]
        message, hint = "the handler is no part of the configuration", "write define_job({…}, handler)"
        self._fault("NSP006", pointer + "/handler", message, hint, "key")
        given.setdefault("handler", inside)

    def _not_a_mapping(self, config: Value, signature: Signature, pointer: str) -> Given:
        if config.data is UNKNOWN or not isinstance(config.data, (*SCALARS, Items, Function)):
            return {UNKNOWN: (Value(UNKNOWN, config.node, config.module), config.node)}
        message = f"{signature.name} takes a mapping or keyword arguments, not {described(config).described}"
        self._fault("NSP007", pointer, message, signature.example, "value")
        return {UNKNOWN: (Value(UNKNOWN, config.node, config.module), config.node)}

    def _arguments(self, signature: Signature, made: Made, pointer: str, place: str) -> Given:
        """The arguments of a call by the manifest's keys; a keyword that resembles none stays, for the rules to judge."""
        bound = _bound(signature, made)
        self.problems += moved(bound.problems, pointer)
        given: Given = dict(bound.given)
        for name, argument in bound.unknown.items():
            meant = signature.nearest(name, self.platform.key_synonyms.get(place, {}))
            if meant is not None:
                self._keys[join(pointer, name)] = argument[1]
                message = f"{signature.name} has no parameter `{name}`"
                self._fault("NSP006", join(pointer, name), message, f"did you mean `{meant.name}`?", "key")
                if closest(name, [meant.name]):  # else a synonym, which may be in another unit
                    self.problems[-1] = replace(self.problems[-1], fix=meant.name)
            given.setdefault(name if meant is None else meant.key, argument)
        if made.open:
            given[UNKNOWN] = (Value(UNKNOWN, ast.Pass(), self.module), ast.Pass())
        return given

    def _read(self, given: Given, pointer: str, readers: Mapping[Any, Reader]) -> dict[Any, Any]:
        """Each entry read by its own reader, else placed as data."""
        raw: dict[Any, Any] = {}
        for key, (value, spelled) in given.items():
            if key is UNKNOWN:
                raw[UNKNOWN] = UNKNOWN
                continue
            plain = type(key) is str and "/" not in key and "~" not in key
            below = f"{pointer}/{key}" if plain else join(pointer, key)
            if value.module is self.module:
                self._keys[below] = spelled
            raw[key] = readers.get(key, self.place)(value, below)
        return raw

    def _payload_schema(self, value: Value, pointer: str) -> Any:
        if not isinstance(value.data, Class):
            return self.place(value, pointer)
        self._at(value, pointer)
        schema = schema_of(value.data, self.evaluator)
        if isinstance(schema, NoSchema):
            message = f"no JSON Schema can be made of class {value.data.node.name}: {schema.reason}"
            hint = "give a pydantic model, a dataclass, a TypedDict or a JSON Schema"
            self._fault("NSP303", pointer, message, hint, "value")
            return UNKNOWN
        return schema

    def _at(self, value: Value, pointer: str) -> None:
        if value.module is self.module:
            self._values[pointer] = value.node

    def _named(self, found: Given, pointer: str) -> None:
        """Keys that are no strings are reported here and taken out: a raw manifest has no others."""
        for key in [key for key in found if key is not UNKNOWN and not isinstance(key, str)]:
            value, spelled = found.pop(key)
            shown = described(Value(key, spelled, value.module)).described
            message = f"the key {shown} is not a string"
            self._fault("NSP007", pointer, message, "keys are strings: put it in quotes", "value")

    def _misplaced(self, what: str, pointer: str, part: str) -> Any:
        self._fault("NSP007", pointer, f"{what} cannot stand here", f"write {part}(…)", "value")
        return UNKNOWN

    def _fault(self, code: str, pointer: str, message: str, hint: str, target: Target) -> None:
        self.problems.append(problem(code, pointer, message, hint, target))


_OWN: Final = frozenset(argument.key for argument in DEFINE_PLUGIN.arguments)


def _bound(signature: Signature, made: Made) -> Bound:
    named = {item.name: (item.value, item.node) for item in made.keywords if item.name is not None}
    return signature.bind(tuple((value, value.node) for value in made.arguments), named)


def _entries(data: Entries) -> Given:
    found: Given = {}
    for key, value in settled(data.pairs):
        name = key.data if isinstance(key.data, SCALARS) else UNKNOWN
        found[name] = (value, key.node)
    return found


class _Places:
    """The nodes behind the pointers of one definition, kept without the rest of the tree."""

    def __init__(
        self, text: Text, values: dict[str, ast.AST], keys: dict[str, ast.AST], texts: dict[str, tuple[ast.AST, str]]
    ) -> None:
        self.text = text
        self.values = values
        self.keys = keys
        self.texts = texts

    def spans(self) -> tuple[dict[str, Span], dict[str, Span], dict[str, Characters]]:
        """The places themselves: of values, keys, and the characters of texts."""
        values, keys = self._of(self.values), self._of(self.keys)
        texts: dict[str, Characters] = {
            pointer: partial(_characters, self.text, node, value)
            for pointer, (node, value) in self.texts.items()
            if pointer in values
        }
        return values, keys, texts

    def _of(self, nodes: Mapping[str, ast.AST]) -> dict[str, Span]:
        found = {pointer: self._span(node) for pointer, node in nodes.items()}
        return {pointer: span for pointer, span in found.items() if span is not None}

    def _span(self, node: ast.AST) -> Span | None:
        if isinstance(node, ast.keyword):
            return self.text.name_span(node)
        return self.text.span(node) if isinstance(node, (ast.expr, ast.stmt)) and hasattr(node, "lineno") else None


def _characters(text: Text, node: ast.AST, value: str) -> tuple[Position, ...]:
    from nsplugin_cli.source.python_strings import characters

    return characters(text, node, value)
