"""Types, unknown keys and missing keys of a manifest, judged by walking its published JSON Schema (decision 0002).

Limits, names and references are the rules' work: the walk looks at ``type``, ``properties``, ``required``,
``additionalProperties``, ``items`` and ``const`` only, and at no more of a payload than that it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from json import dumps
from typing import Any, Final

from nsplugin.nearest import closest, look_up
from nsplugin.platforms import NAMES, Platform, load
from nsplugin.pointers import UNKNOWN, join
from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin.wording import Origin, found, integer, listed, plain, quoted, token, wanted
from nsplugin_schemas import load as load_schema

MANIFEST_VERSION: Final = 1
"""The manifest version that this tool writes."""

MANIFEST_VERSIONS: Final = (MANIFEST_VERSION,)
"""The manifest versions that this tool reads (spec/manifest.md M7)."""

_SUGGESTIONS: Final = 100
"""After so many faults in one document no further near misses are sought: foreign input must not make the walk slow."""

_EXACT: Final[dict[str, dict[Origin, frozenset[type]]]] = {
    "integer": {"json": frozenset({int}), "python": frozenset({int})},
    "boolean": {"json": frozenset({bool}), "python": frozenset({bool})},
    "string": {"json": frozenset({str}), "python": frozenset()},  # Python strings may hold what UTF-8 cannot
}

Path = tuple[Any, ...] | None
"""A place as (place of the container, key), so that a pointer is built only where something is wrong."""

Fault = tuple[str, Found]
"""A code and what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """A schema, ready to walk. ``label`` names the value in messages, ``noun`` the thing that it is, ``place`` its kind."""

    schema: Mapping[str, Any]
    label: str
    noun: str
    place: str
    kinds: tuple[str, ...]
    exact: Mapping[Origin, frozenset[type]]
    properties: Mapping[Any, _Node]
    required: tuple[str, ...]
    rest: _Node | None
    items: _Node | None


_NOTHING_EXACT: Final[dict[Origin, frozenset[type]]] = {"json": frozenset(), "python": frozenset()}


def faults(raw: Any, platform: Platform, *, origin: Origin = "json") -> list[Problem]:
    """Every NSP006, NSP007 and NSP008 of a raw manifest, in document order; for an unread version that fault (NSP602) alone.

    ``origin``: "python" when the values are Python's own (``5.0`` is no integer), "json" when they were read from JSON.
    """
    version = version_fault(raw)
    if version is not None:
        return [version]
    schema = f"{platform.name}-manifest"
    return [problem(*fault) for fault in mismatches(schema, raw, origin, platform.key_hints, platform.key_synonyms)]


def mismatches(
    schema: str,
    value: Any,
    origin: Origin = "json",
    hints: Mapping[str, Mapping[str, str]] | None = None,
    synonyms: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Fault]:
    """Where ``value`` has not the structure of a published schema: (code, found), in document order.

    ``hints`` and ``synonyms`` say by place and key what to do about a key that is unknown there.
    """
    walk = _Walk(origin, hints or {}, synonyms or {})
    walk.value(_compiled(schema), value, None)
    return walk.faults


def platform_of(raw: Any) -> tuple[Platform | None, list[Problem]]:
    """The platform that a raw manifest names, or ``None`` and the one fault that hides it."""
    version = version_fault(raw)
    if version is not None:
        return None, [version]
    if not isinstance(raw, Mapping):
        message = f"a manifest must be an object, not {found(raw, 'json')}"
        return None, [problem("NSP007", Found(pointer="", message=message))]
    name = raw.get("platform")
    if isinstance(name, str) and name in NAMES:
        return load(plain(name)), []
    return None, [_platform_fault(raw)]


def _platform_fault(raw: Mapping[Any, Any]) -> Problem:
    known = listed((f'"{name}"' for name in NAMES), "or")
    misspelt = next((key for key in raw if isinstance(key, str) and closest(key, ["platform"])), None)
    if "platform" not in raw and misspelt is not None:
        pointer, message = join("", token(misspelt)), f"{quoted(misspelt)} is not a key of the manifest"
        return problem("NSP006", Found(pointer=pointer, message=message, hint=_meant("platform"), target="key", fix="platform"))
    if "platform" not in raw:
        return problem("NSP008", Found(pointer="", message='the manifest has no "platform"', hint=f'add "platform": {known}'))
    name = raw["platform"]
    message = f"platform must be {known}, not {found(name, 'json')}"
    near = closest(plain(name), NAMES) if isinstance(name, str) else None
    return problem("NSP007", Found(pointer="/platform", message=message, hint=_meant(near) if near else None))


def version_fault(raw: Any) -> Problem | None:
    """NSP602 when the manifest is of a version that this tool does not read (spec/manifest.md M7)."""
    version = raw.get("manifestVersion") if isinstance(raw, Mapping) else None
    whole = isinstance(version, int) or (isinstance(version, float) and version.is_integer())
    if not whole or isinstance(version, bool) or version in MANIFEST_VERSIONS:
        return None
    latest = max(MANIFEST_VERSIONS)
    newer = version is not None and version > latest
    hint = "a newer nsplugin reads it: upgrade nsplugin" if newer else f'write "manifestVersion": {latest}'
    read = listed(map(str, MANIFEST_VERSIONS))
    message = f"manifestVersion is {integer(int(version or 0))}; this nsplugin reads version {read}"
    return problem("NSP602", Found(pointer="/manifestVersion", message=message, hint=hint))


class _Walk:
    """One walk over one value."""

    __slots__ = ("faults", "hints", "origin", "synonyms")

    def __init__(
        self, origin: Origin, hints: Mapping[str, Mapping[str, str]], synonyms: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.faults: list[Fault] = []
        self.origin: Origin = origin
        self.hints = hints
        self.synonyms = synonyms

    def value(self, node: _Node, value: Any, path: Path) -> None:
        if value is UNKNOWN or not node.kinds:
            return
        if isinstance(value, Mapping) and "object" in node.kinds:
            self._object(node, value, path)
        elif isinstance(value, (list, tuple)) and "array" in node.kinds:
            self._array(node, value, path)
        elif not any(_is(kind, value, self.origin) for kind in node.kinds):
            self._wrong_type(node, value, path)
        elif isinstance(value, str):
            self._text(node, value, path)

    def _object(self, node: _Node, value: Mapping[Any, Any], path: Path) -> None:
        properties, origin = node.properties, self.origin
        strangers: list[Any] = []
        for key, item in value.items():
            child = properties.get(key)
            if child is None:
                if node.rest is None or type(key) is not str:
                    strangers.append(key)
                    continue
                child = node.rest
            if type(item) not in child.exact[origin]:
                self.value(child, item, (path, key))
        meant = self._strangers(node, value, strangers, path) if strangers else set()
        for key in node.required:
            if key not in value and key not in meant and UNKNOWN not in value:
                self._missing(node, key, path)

    def _array(self, node: _Node, value: list[Any] | tuple[Any, ...], path: Path) -> None:
        child = node.items
        if child is None:
            return
        exact = child.exact[self.origin]
        for index, item in enumerate(value):
            if type(item) not in exact:
                self.value(child, item, (path, index))

    def _text(self, node: _Node, value: str, path: Path) -> None:
        constant = node.schema.get("const")
        if constant is not None and value != constant:
            message = f"{node.label} must be {quoted(constant)}, not {found(value, self.origin)}"
            self._add("NSP007", path, message, f"write {quoted(constant)}")
        at = _unpaired(value)
        if at is not None:
            message = f"{node.label} holds half a character, an unpaired surrogate, which no UTF-8 file can hold"
            self._add("NSP007", path, message, start=at, end=at + 1)

    def _strangers(self, node: _Node, value: Mapping[Any, Any], keys: list[Any], path: Path) -> set[str]:
        """Report the keys that are unknown here, or no strings; the keys that they were meant to be."""
        meant: set[str] = set()
        for key in keys:
            if isinstance(key, str) and node.rest is not None:
                self._open_key(node, key, value[key], path)
            elif isinstance(key, str):
                meant |= self._unknown_key(node, plain(key), path)
            elif key is not UNKNOWN:
                message = f"a key of {node.noun} must be a string, not {found(key, self.origin)}"
                self._add("NSP007", (path, key), message, target="key")
        return meant

    def _open_key(self, node: _Node, key: str, item: Any, path: Path) -> None:
        """A key of a string subclass in a mapping that takes any key."""
        if node.rest is not None:
            self.value(node.rest, item, (path, key))

    def _unknown_key(self, node: _Node, key: str, path: Path) -> set[str]:
        place, near = node.place, None
        hint = look_up(key, self.hints.get(place, {}))
        if hint is None and len(self.faults) < _SUGGESTIONS:
            synonyms = self.synonyms.get(place, {})
            near = closest(key, (*node.properties, *synonyms))
            near = synonyms.get(near, near) if near else None
            hint = _meant(near) if near else f"keys of {node.noun}: {', '.join(node.properties)}"
        self._add("NSP006", (path, key), f"{quoted(key)} is not a key of {node.noun}", hint, target="key", fix=near)
        return {near} if near else set()

    def _missing(self, node: _Node, key: str, path: Path) -> None:
        schema = node.properties[key].schema
        example = _example(node.properties[key])
        if "const" in schema:
            hint = f'add "{key}": {dumps(schema["const"])}'
        else:
            hint = f'add "{key}", {example}' if example else f'add "{key}"'
        self._add("NSP008", path, f'{node.noun} has no "{key}"', hint)

    def _wrong_type(self, node: _Node, value: Any, path: Path) -> None:
        message = f"{node.label} must be {wanted(node.kinds, self.origin)}, not {found(value, self.origin)}"
        self._add("NSP007", path, message, _instead(node, value))

    def _add(self, code: str, path: Path, message: str, hint: str | None = None, **place: Any) -> None:
        self.faults.append((code, Found(pointer=_pointer(path), message=message, hint=hint, **place)))


def _meant(name: str) -> str:
    return f'did you mean "{name}"?'


def _is(kind: str, value: Any, origin: Origin) -> bool:
    if kind == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (origin == "json" and isinstance(value, float) and value.is_integer())  # spec/nextskin.md D8
    return isinstance(value, bool) if kind == "boolean" else kind == "string" and isinstance(value, str)


def _unpaired(text: str) -> int | None:
    if text.isascii():
        return None
    return next((index for index, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)


def _instead(node: _Node, value: Any) -> str | None:
    """What to write instead of a value of the wrong type, where that can be told."""
    if value is None:
        return _null_instead(node)
    return next((hint for kind in node.kinds for hint in _INSTEAD[kind](node, value)), None) or _example(node)


def _null_instead(node: _Node) -> str | None:
    if "default" in node.schema:
        return f"leave it out for the default, {dumps(node.schema['default'])}"
    if node.place and not node.required:
        return "write {} for the defaults"
    return _example(node)


def _integer_instead(node: _Node, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        digits = plain(value).replace("_", "").strip()
        if digits.isascii() and digits.isdecimal() and len(digits) < 16:
            yield f"write {int(digits)}"
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        yield f"write {int(value)}"


def _object_instead(node: _Node, value: Any) -> Iterator[str]:
    """``"schedule": "0 2 * * *"`` where an object with that as its one necessary key is wanted."""
    if isinstance(value, str) and len(node.required) == 1:
        yield f'write {{"{node.required[0]}": {quoted(value)}}}'


def _array_instead(node: _Node, value: Any) -> Iterator[str]:
    if isinstance(value, str) and node.items is not None and "string" in node.items.kinds:
        yield f"write [{quoted(value)}]"


def _nothing_instead(node: _Node, value: Any) -> Iterator[str]:
    yield from ()


_INSTEAD: Final = {
    "integer": _integer_instead,
    "object": _object_instead,
    "array": _array_instead,
    "string": _nothing_instead,
    "boolean": _nothing_instead,
}


def _example(node: _Node) -> str | None:
    examples = node.schema.get("examples")
    return f"for example {dumps(examples[0], ensure_ascii=False)}" if examples else None


def _pointer(path: Path) -> str:
    tokens: list[str | int] = []
    while path is not None:
        path, key = path
        tokens.append(key if type(key) is int else token(key))
    return join("", *reversed(tokens))


@cache
def _compiled(name: str) -> _Node:
    schema = load_schema(name)
    title = "manifest" if name.endswith("-manifest") else schema["title"]
    return _node(schema, f"the {title}", schema.get("$defs", {}))


def _node(schema: Mapping[str, Any], label: str, definitions: Mapping[str, Any]) -> _Node:
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    place = schema.get("title", "").rpartition(" ")[2]
    noun = f"a {place}" if place and "$schema" not in schema else label
    kinds = tuple(option["type"] for option in schema.get("anyOf", [schema]) if "type" in option)
    rest = schema.get("additionalProperties", True)
    leaf = len(kinds) == 1 and "const" not in schema
    return _Node(
        schema=schema,
        label=label or noun,
        noun=noun,
        place=place,
        kinds=kinds,
        exact=_EXACT.get(kinds[0], _NOTHING_EXACT) if leaf else _NOTHING_EXACT,
        properties={key: _node(item, key, definitions) for key, item in schema.get("properties", {}).items()},
        required=tuple(schema.get("required", ())),
        rest=_inner(rest, f"a value of {label}", definitions) if rest else None,
        items=_inner(schema["items"], f"an item of {label}", definitions) if "items" in schema else None,
    )


def _inner(schema: Any, label: str, definitions: Mapping[str, Any]) -> _Node:
    """The node of a member or item: named by its own title where it has one (``a job``)."""
    if schema is True:
        return _ANYTHING
    return _node(schema, "" if "$ref" in schema else label, definitions)


_ANYTHING: Final = _Node(
    schema={}, label="", noun="", place="", kinds=(), exact=_NOTHING_EXACT, properties={}, required=(), rest=None, items=None
)
