"""Where a ``$ref`` leads. Only inside its own schema: nothing is ever opened or fetched (spec/manifest.md M5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nsplugin.json_schema.keywords import subschemas
from nsplugin.lazy import pattern
from nsplugin.place import Place
from nsplugin.pointers import split

NOWHERE: Final = object()
"""What a reference gives that leads nowhere."""

_INDEX: Final = pattern(r"0|[1-9][0-9]{0,8}")


def is_local(reference: str, root: Any) -> bool:
    """Whether a reference stays inside the schema: a fragment, alone or behind the schema's own ``$id``."""
    return reference.partition("#")[0] in ("", _own_id(root))


def target(reference: str, root: Any, anchors: Mapping[str, Any]) -> Any:
    """What a local reference leads to, or :data:`NOWHERE`."""
    fragment = _fragment(reference)
    if fragment and not fragment.startswith("/"):
        return anchors.get(fragment, NOWHERE)
    value = root
    for token in split(fragment):
        value = _step(value, token)
    return value


def anchors(root: Any) -> dict[str, Any]:
    """Every ``$anchor`` of a schema with the subschema it names."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    waiting = [root]
    for schema in waiting:
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            if isinstance(schema.get("$anchor"), str):
                found[schema["$anchor"]] = schema
            waiting.extend(below for _, _, below in subschemas(schema))
    return found


def place(reference: str) -> Place:
    """The place that a local reference with a pointer names."""
    found: Place = None
    for token in split(_fragment(reference)):
        found = (found, token)
    return found


def _fragment(reference: str) -> str:
    fragment = reference.partition("#")[2]
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote

    return unquote(fragment)


def _own_id(root: Any) -> str:
    identity = root.get("$id") if isinstance(root, dict) else None
    return identity.removesuffix("#") if isinstance(identity, str) else ""


def _step(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, NOWHERE)
    if isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return NOWHERE
