"""What TypeScript expressions evaluate to: values with the places that they stand at."""

from __future__ import annotations

from typing import Any, Final

from tree_sitter import Node

from nsplugin.pointers import UNKNOWN
from nsplugin.record import record
from nsplugin_cli.source.typescript_module import Module


@record(kw_only=False)
class FunctionValue:
    """A function that stands where a value is wanted."""

    node: Node
    module: Module


@record(kw_only=False)
class CallValue:
    """A call whose result is not a plain value; the definers among them are told by ``definer``."""

    node: Node
    module: Module
    definer: str | None = None


@record(kw_only=False)
class Members:
    """An enum or a class, looked up member by member; ``holders``: the names that it came by, each with its scope."""

    node: Node
    module: Module
    holders: tuple[tuple[Module, str, int], ...] = ()


@record(kw_only=False)
class Located:
    """A value and the node that holds it. Mappings hold ``dict[key, Entry]``, lists ``list[Located]``."""

    value: Any
    node: Node
    module: Module
    used: tuple[Module, Node] | None = None
    """Where an object or array takes in what stands in another file."""


@record(kw_only=False)
class Entry:
    """A mapping's entry: the key's node (``None`` for one that came by a spread name) and the located value."""

    key: Node | None
    item: Located


class Mapping(dict[Any, Entry]):
    """An evaluated object literal; the key ``UNKNOWN`` says that it may hold more."""


OPAQUE: Final = (FunctionValue, CallValue, Members)
"""What is none of JSON's values."""


def is_deep(container: Mapping | list[Located]) -> bool:
    """Whether an object or array may hold something that can be changed in turn."""
    items = [entry.item for entry in container.values()] if isinstance(container, Mapping) else container
    return any(item.value is UNKNOWN or isinstance(item.value, (Mapping, list, *OPAQUE)) for item in items)


def shown_at(found: Located, node: Node, module: Module) -> Located:
    """A scalar that came by a name of another file is shown where the name stands: its own place is not in this file."""
    if found.module is not module and not isinstance(found.value, (Mapping, list, *OPAQUE)):
        return Located(found.value, node, module)
    return found
