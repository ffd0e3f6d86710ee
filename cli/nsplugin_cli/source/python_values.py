"""What an expression is known to be without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from nsplugin.pointers import UNKNOWN
from nsplugin.record import record, replace

if TYPE_CHECKING:
    from nsplugin_cli.source.python_module import Module
    from nsplugin_cli.source.python_scopes import FunctionNode

MAX_ITERATED: Final = 100
"""The longest string that is taken apart into its characters."""

SCALARS: Final = (type(None), bool, int, float, complex, str, bytes)


class Value:
    """The data of an expression, and the expression itself: where a finding about the value points.

    ``data`` is a scalar, one of the classes below, or ``UNKNOWN``.
    """

    __slots__ = ("data", "module", "node")

    def __init__(self, data: Any, node: ast.AST, module: Module) -> None:
        self.data = data
        self.node = node
        self.module = module

    @property
    def known(self) -> bool:
        """Whether anything is known of it."""
        return self.data is not UNKNOWN


@record(kw_only=False)
class Items:
    """A list, tuple or set. An item that is ``UNKNOWN`` may stand for any number of items where the list is ``open``."""

    kind: type
    items: tuple[Value, ...]
    open: bool = False
    """Whether some item was an unpacked unknown, so that indexes and length are not known."""


@record(kw_only=False)
class Entries:
    """A dict: keys and values in the order written; a later pair replaces an earlier one of the same key.

    A key that is ``UNKNOWN`` may be any number of keys.
    """

    pairs: tuple[tuple[Value, Value], ...]

    @property
    def open(self) -> bool:
        """Whether it may hold further keys."""
        return any(not key.known for key, _ in self.pairs)

    def find(self, key: Any) -> Value | None:
        """The value under a key, if it is certain."""
        if self.open:
            return None
        return next((value for name, value in reversed(self.pairs) if same(name.data, key)), None)


@record(kw_only=False)
class External:
    """Something of a module outside the repository, by its dotted name; ``()`` behind a name stands for a call's result."""

    name: str


@record(kw_only=False)
class Function:
    """A function or lambda of the repository. ``opaque``: decorated, or a method: what calls it hands over is not known.

    ``bound``: taken from an instance, which is its first argument.
    """

    node: FunctionNode
    module: Module
    opaque: bool = False
    bound: bool = False


@record(kw_only=False)
class Class:
    """A class of the repository."""

    node: ast.ClassDef
    module: Module


@record(kw_only=False)
class Instance:
    """An instance of a class of the repository."""

    of: Class


@record(kw_only=False)
class RepoModule:
    """A module of the repository."""

    module: Module


@record(kw_only=False)
class Method:
    """A method of a known value, not yet called."""

    owner: Value
    name: str


@record(kw_only=False)
class Keyword:
    """An argument given by name. ``node``: what spells the name. An unpacked unknown has no name."""

    name: str | None
    value: Value
    node: ast.AST


@record(kw_only=False)
class Made:
    """A call of the SDK's in a module: a definer (``define_plugin``) or a part (``Job``), and what it was given.

    ``handler``: what ``define_job(…)`` was applied to. ``open``: unknown arguments were unpacked into the call.
    """

    maker: str
    module: Module
    arguments: tuple[Value, ...]
    keywords: tuple[Keyword, ...]
    open: bool
    handler: Value | None = None


def same(left: Any, right: Any) -> bool:
    """Whether two scalars are one dict key."""
    return isinstance(left, SCALARS) and isinstance(right, SCALARS) and bool(left == right)


def truth(data: Any) -> bool | None:
    """Whether a condition holds, ``None`` when that is not known."""
    if isinstance(data, SCALARS):
        return bool(data)
    if isinstance(data, Items):
        return bool(data.items) if not data.open else None
    if isinstance(data, Entries):
        return bool(data.pairs) if not data.open else None
    if isinstance(data, (Function, Made)):
        return True
    return None


def is_mutable(data: Any) -> bool:
    """Whether code elsewhere could change it: a list, dict or set, or a tuple that holds one."""
    if isinstance(data, Items):
        return data.kind is not tuple or any(is_mutable(item.data) for item in data.items)
    return isinstance(data, Entries)


def holds_mutable(data: Any) -> bool:
    """Whether something inside it could be changed."""
    return any(is_mutable(value.data) for value in children(data))


def children(data: Any) -> Iterator[Value]:
    """The values directly inside a container."""
    if isinstance(data, Items):
        yield from data.items
    elif isinstance(data, Entries):
        yield from (value for _, value in data.pairs)


def with_handler(made: Made, handler: Value) -> Made | None:
    """``define_job(…)`` applied to its handler; ``None`` when that is not what was called."""
    if made.maker != "define_job" or made.handler is not None or made.arguments:
        return None
    return replace(made, handler=handler)


def iterated(value: Value) -> tuple[Value, ...] | None:
    """What iterating over a value gives, ``None`` when that is not known."""
    data = value.data
    if isinstance(data, Items):
        return None if data.open or data.kind is set else data.items
    if isinstance(data, Entries):
        return None if data.open else tuple(key for key, _ in settled(data.pairs))
    if isinstance(data, str) and len(data) <= MAX_ITERATED:
        return tuple(Value(character, value.node, value.module) for character in data)
    return None


def settled(pairs: Iterable[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    """The pairs as the dict holds them: each key once, in the place of its first pair, with the value of its last.

    Of keys that are equal and of different types, such as ``True`` and ``1``, the dict keeps the first.
    """
    found: dict[Any, tuple[Value, Value]] = {}
    for key, value in pairs:
        same_key = key.data if isinstance(key.data, SCALARS) else id(key)
        first, _ = found.get(same_key, (key, value))
        found[same_key] = (key if type(first.data) is type(key.data) else first, value)
    return list(found.values())


def joined(pairs: Iterable[tuple[Value, Value]], more: Iterable[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    """Pairs, and others that are written over them: where unknown keys come, what stood before may be replaced."""
    more = list(more)
    if all(key.known for key, _ in more):
        return [*pairs, *more]
    unsure = [(key, Value(UNKNOWN, value.node, value.module)) for key, value in pairs]
    return [*unsure, *more]
