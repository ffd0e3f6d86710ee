"""The walk over a value beside a published JSON Schema, which :mod:`nsplugin.structure` judges manifests with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from json import dumps
from typing import Any, Final

from nsplugin.nearest import closest, look_up
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import record
from nsplugin.rules._family import Found
from nsplugin.wording import Origin, found, plain, quoted, token, wanted
from nsplugin_schemas import load as load_schema

_SUGGESTIONS: Final = 100
"""After so many faults in one document no further near misses are sought: foreign input must not make the walk slow."""

Path = tuple[Any, ...] | None
"""A place as (place of the container, key), so that a pointer is built only where something is wrong."""

Fault = tuple[str, Found]
"""A code and what was found."""


@record(kw_only=False)
class Node:
    """A schema, ready to walk. ``label`` names the value in messages, ``noun`` the thing that it is, ``place`` its kind.

    ``exact`` holds the types of which a value needs no further look; ``is_text``: any text that UTF-8 can hold needs none.
    """

    schema: Mapping[str, Any]
    label: str
    noun: str
    place: str
    kinds: tuple[str, ...]
    exact: frozenset[type]
    properties: Mapping[Any, Node]
    required: frozenset[str]
    rest: Node | None
    items: Node | None
    is_object: bool = False
    is_array: bool = False
    is_text: bool = False


class Walk:
    """One walk over one value; ``faults`` holds what it found, in document order."""

    __slots__ = ("faults", "hints", "origin", "synonyms")

    def __init__(
        self, origin: Origin, hints: Mapping[str, Mapping[str, str]], synonyms: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.faults: list[Fault] = []
        self.origin: Origin = origin
        self.hints = hints
        self.synonyms = synonyms

    def value(self, node: Node, value: Any, path: Path) -> None:
        """Judge a value that stands at ``path``."""
        if value is UNKNOWN or not node.kinds:
            return
        if node.is_object and (type(value) is dict or isinstance(value, Mapping)):
            self._object(node, value, path)
        elif node.is_array and isinstance(value, (list, tuple)):
            self._array(node, value, path)
        elif not any(_is(kind, value, self.origin) for kind in node.kinds):
            self._wrong_type(node, value, path)
        elif isinstance(value, str):
            self._text(node, value, path)

    def _object(self, node: Node, value: Mapping[Any, Any], path: Path) -> None:
        known, rest = node.properties.get, node.rest
        strangers: list[Any] = []
        for key, item in value.items():
            child = known(key, rest)
            kind = type(item)
            if child is None or type(key) is not str:
                strangers.append(key)
            elif kind in child.exact or (kind is str and child.is_text and item.isascii()):
                continue
            elif kind is dict and child.is_object:
                self._object(child, item, (path, key))
            else:
                self.value(child, item, (path, key))
        near = self._strangers(node, value, strangers, path) if strangers else set()
        if node.required and not value.keys() >= node.required and UNKNOWN not in value:
            for key in node.properties:
                if key in node.required and key not in value and key not in near:
                    self._missing(node, key, path)

    def _array(self, node: Node, value: list[Any] | tuple[Any, ...], path: Path) -> None:
        child = node.items
        for index, item in enumerate(value) if child is not None else ():
            if child is not None and type(item) not in child.exact:
                self.value(child, item, (path, index))

    def _text(self, node: Node, value: str, path: Path) -> None:
        constant = node.schema.get("const")
        if constant is not None and value != constant:
            message = f"{node.label} must be {quoted(constant)}, not {found(value, self.origin)}"
            self._add("NSP007", path, message, f"write {quoted(constant)}")
        at = _unpaired(value)
        if at is not None:
            message = f"{node.label} holds half a character, an unpaired surrogate, which no UTF-8 file can hold"
            self._add("NSP007", path, message, start=at, end=at + 1)

    def _strangers(self, node: Node, value: Mapping[Any, Any], keys: list[Any], path: Path) -> set[str]:
        """Look at the keys that are unknown here, or no plain strings; the keys that they were meant to be."""
        near: set[str] = set()
        for key in keys:
            if not isinstance(key, str):
                if key is not UNKNOWN:
                    message = f"a key of {node.noun} must be a string, not {found(key, self.origin)}"
                    self._add("NSP007", (path, key), message, target="key")
                continue
            child = node.properties.get(key, node.rest)
            if child is None:
                near |= self._unknown_key(node, plain(key), path)
            else:
                self.value(child, value[key], (path, key))
        return near

    def _unknown_key(self, node: Node, key: str, path: Path) -> set[str]:
        place, near = node.place, None
        hint = look_up(key, self.hints.get(place, {}))
        if hint is None and len(self.faults) < _SUGGESTIONS:
            synonyms = self.synonyms.get(place, {})
            near = closest(key, (*node.properties, *synonyms))
            near = synonyms.get(near, near) if near else None
            hint = meant(near) if near else f"keys of {node.noun}: {', '.join(node.properties)}"
        fix = near if near and closest(key, [near]) else None  # a synonym may be in another unit
        self._add("NSP006", (path, key), f"{quoted(key)} is not a key of {node.noun}", hint, target="key", fix=fix)
        return {near} if near else set()

    def _missing(self, node: Node, key: str, path: Path) -> None:
        schema = node.properties[key].schema
        example = _example(node.properties[key])
        if "const" in schema:
            hint = f'add "{key}": {dumps(schema["const"])}'
        else:
            hint = f'add "{key}", {example}' if example else f'add "{key}"'
        self._add("NSP008", path, f'{node.noun} has no "{key}"', hint)

    def _wrong_type(self, node: Node, value: Any, path: Path) -> None:
        message = f"{node.label} must be {wanted(node.kinds, self.origin)}, not {found(value, self.origin)}"
        self._add("NSP007", path, message, _instead(node, value))

    def _add(self, code: str, path: Path, message: str, hint: str | None = None, **place: Any) -> None:
        self.faults.append((code, Found(pointer=_pointer(path), message=message, hint=hint, **place)))


def meant(name: str) -> str:
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


def _instead(node: Node, value: Any) -> str | None:
    """What to write instead of a value of the wrong type, where that can be told."""
    if value is None:
        return _null_instead(node)
    return next((hint for kind in node.kinds for hint in _INSTEAD[kind](node, value)), None) or _example(node)


def _null_instead(node: Node) -> str | None:
    if "default" in node.schema:
        return f"leave it out for the default, {dumps(node.schema['default'])}"
    if node.place and not node.required:
        return "write {} for the defaults"
    return _example(node)


def _integer_instead(node: Node, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        digits = plain(value).replace("_", "").strip()
        if digits.isascii() and digits.isdecimal() and len(digits) < 16:
            yield f"write {int(digits)}"
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        yield f"write {int(value)}"


def _object_instead(node: Node, value: Any) -> Iterator[str]:
    """``"schedule": "0 2 * * *"`` where an object with that as its one necessary key is wanted."""
    if isinstance(value, str) and len(node.required) == 1:
        [key] = node.required
        yield f'write {{"{key}": {quoted(value)}}}'


def _array_instead(node: Node, value: Any) -> Iterator[str]:
    if isinstance(value, str) and node.items is not None and "string" in node.items.kinds:
        yield f"write [{quoted(value)}]"


def _nothing_instead(node: Node, value: Any) -> Iterator[str]:
    yield from ()


_INSTEAD: Final = {
    "integer": _integer_instead,
    "object": _object_instead,
    "array": _array_instead,
    "string": _nothing_instead,
    "boolean": _nothing_instead,
}


def _example(node: Node) -> str | None:
    examples = node.schema.get("examples")
    return f"for example {dumps(examples[0], ensure_ascii=False)}" if examples else None


def _pointer(path: Path) -> str:
    tokens: list[str] = []
    while path is not None:
        path, key = path
        tokens.append(token(key))
    return join("", *reversed(tokens))


@cache
def compiled(name: str, origin: Origin) -> Node:
    """The published schema of that name, ready to walk beside values of that origin."""
    schema = load_schema(name)
    title = "manifest" if name.endswith("-manifest") else schema["title"]
    return _Compiler(schema.get("$defs", {}), origin).node(schema, f"the {title}")


class _Compiler:
    """Makes nodes of one document's schemas."""

    def __init__(self, definitions: Mapping[str, Any], origin: Origin) -> None:
        self.definitions = definitions
        self.exact = _EXACT[origin]

    def node(self, schema: Mapping[str, Any], label: str) -> Node:
        """The node of a schema; without a label it is named by its own title (``a job``)."""
        if "$ref" in schema:
            schema = {**self.definitions[schema["$ref"].rpartition("/")[2]], **schema}
        place = schema.get("title", "").rpartition(" ")[2]
        noun = f"a {place}" if place and "$schema" not in schema else label
        kinds = tuple(option["type"] for option in schema.get("anyOf", [schema]) if "type" in option)
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        return Node(
            schema=schema,
            label=label or noun,
            noun=noun,
            place=place,
            kinds=kinds,
            exact=self._exactly(schema, kinds),
            properties={key: self.node(item, key) for key, item in properties.items()},
            required=frozenset(schema.get("required", ())),
            rest=self._inner(rest, f"a value of {label}") if rest else None,
            items=self._inner(schema["items"], f"an item of {label}") if "items" in schema else None,
            is_object="object" in kinds,
            is_array="array" in kinds,
            is_text="string" in kinds and "const" not in schema,
        )

    def _inner(self, schema: Any, label: str) -> Node:
        if schema is True:
            return _ANYTHING
        return self.node(schema, "" if "$ref" in schema else label)

    def _exactly(self, schema: Mapping[str, Any], kinds: tuple[str, ...]) -> frozenset[type]:
        if "const" in schema:
            return frozenset()
        if not kinds:
            return _ANYTHING.exact
        free = "anyOf" in schema and not any("properties" in option for option in schema["anyOf"])
        return frozenset(self.exact[kind] for kind in kinds if kind in self.exact and (free or kind != "object"))


_EXACT: Final[dict[Origin, dict[str, type]]] = {
    "json": {"integer": int, "boolean": bool, "string": str, "object": dict},
    "python": {"integer": int, "boolean": bool},  # its strings may hold what UTF-8 cannot, its mappings other keys
}

_ANYTHING: Final = Node(
    schema={},
    label="",
    noun="",
    place="",
    kinds=(),
    exact=frozenset({dict, list, str, int, float, bool, type(None)}),
    properties={},
    required=frozenset(),
    rest=None,
    items=None,
)
