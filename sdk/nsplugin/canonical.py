"""JSON written out: the RFC 8785 canonical form and its digest, the readable form of a manifest, and sizes in bytes.

Numbers take the form that JavaScript gives them (``5.0`` is ``5``, ``1e-7``, ``-0`` is ``0``), so that a manifest has the
same bytes, and a payload the same size, on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, Final

from nsplugin.json_limits import DEPTH, SAFE_INTEGER
from nsplugin.pointers import UNKNOWN

_TOO_DEEP: Final = "nested too deeply for a canonical form"


def canonical(value: Any) -> bytes:
    """The RFC 8785 form of a JSON value, UTF-8.

    Raises ``ValueError`` for what that form cannot carry: NaN, infinities, integers beyond ±(2^53-1), lone surrogates,
    whatever is not JSON.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if without_floats(value) and (text.isascii() or max(text) < "\ud800"):
            return text.encode()
    except TypeError:
        pass  # the library names what is not JSON
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return _exactly(value)


def digest(value: Any) -> str:
    """``sha256:`` and the hexadecimal SHA-256 of the canonical form (spec/manifest.md M4). Raises as :func:`canonical`."""
    from hashlib import sha256

    return "sha256:" + sha256(canonical(value)).hexdigest()


def pretty(value: Any) -> bytes:
    """A JSON value for people and version control (spec/manifest.md M3), as ``JSON.stringify(value, null, 2)`` and a line feed.

    Keys keep their order, characters beyond ASCII stay themselves. Raises ``ValueError`` as :func:`canonical`.
    """
    try:
        return (_pretty(value, "\n") + "\n").encode()
    except RecursionError:
        raise ValueError("nested too deeply to be written") from None


def json_size(value: Any) -> int:
    """How many UTF-8 bytes ``JSON.stringify(value)`` has (spec/nextskin.md E2, spec/cogover.md E3).

    Never raises. What is unknown counts nothing, so that the size is a lower bound; so does what ``payload.not_json`` refuses
    and JSON has no form for. A value that stands in many places is measured once.
    """
    return _size(value, {}, 0)


def _exactly(value: Any) -> bytes:
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def compact_size(value: Any) -> int | None:
    """:func:`json_size` by the C encoder; ``None`` for a value that needs more care. ``value`` must not contain itself."""
    if not without_floats(value):
        return None
    try:
        return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError):
        return None


_STRING: Final = frozenset({str})
_PLAIN: Final = frozenset({str, bool, type(None)})
_CONTAINERS: Final = (dict, list, tuple)


def without_floats(value: Any) -> bool:
    """Whether the C encoder's text is already canonical: no floats, no unsafe integers, no keys that it would coerce.

    Looks at the types of a container's members all at once; only where there are others than text does it look at each.
    """
    nodes = [value]
    for node in nodes:
        if isinstance(node, _CONTAINERS):
            if isinstance(node, dict) and not _STRING.issuperset(map(type, node)):
                return False
            members = node.values() if isinstance(node, dict) else node
            if not _PLAIN.issuperset(map(type, members)):
                nodes.extend([member for member in members if type(member) not in _PLAIN])
        elif isinstance(node, float) or (isinstance(node, int) and not -SAFE_INTEGER <= node <= SAFE_INTEGER):
            return False
    return True


def _pretty(value: Any, newline: str) -> str:
    inner = newline + "  "
    if isinstance(value, dict):
        return _enclose("{", [f"{_key(key)}: {_pretty(item, inner)}" for key, item in value.items()], newline, "}")
    if isinstance(value, (list, tuple)):
        return _enclose("[", [_pretty(item, inner) for item in value], newline, "]")
    return encode_basestring(value) if isinstance(value, str) else _plain(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return encode_basestring(key)
    raise ValueError(f"a key of JSON is a string, not {key!r}")


def _enclose(opening: str, items: list[str], newline: str, closing: str) -> str:
    return opening + newline + "  " + f",{newline}  ".join(items) + newline + closing if items else opening + closing


def _plain(value: Any) -> str:
    """A number, truth value or null as JavaScript writes it."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, int) and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return str(int(value))
    if isinstance(value, float) and value.is_integer() and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return str(int(value))
    return _exactly(value).decode()


_WORDS: Final = {None: "null", True: "true", False: "false"}


def _size(value: Any, seen: dict[int | str, int], depth: int) -> int:
    if isinstance(value, str):
        return _text_size(value, seen)
    if isinstance(value, (dict, list, tuple)):
        key = id(value)
        if key not in seen:
            seen[key] = 0  # what contains itself has no size
            seen[key] = _container_size(value, seen, depth + 1) if depth < DEPTH else 0
        return seen[key]
    return _scalar_size(value)


def _container_size(value: Any, seen: dict[int | str, int], depth: int) -> int:
    if isinstance(value, dict):
        sizes = [_text_size(key, seen) + 1 + _size(item, seen, depth) for key, item in value.items() if isinstance(key, str)]
    else:
        sizes = [_size(item, seen, depth) for item in value if item is not UNKNOWN]
    return 2 + sum(sizes) + max(len(sizes) - 1, 0)


def _text_size(text: str, seen: dict[int | str, int]) -> int:
    if len(text) < 100:
        return _measured(text)
    if text not in seen:
        seen[text] = _measured(text)
    return seen[text]


def _measured(text: str) -> int:
    quoted = encode_basestring(text)
    if quoted.isascii():
        return len(quoted)
    try:
        return len(quoted.encode())
    except UnicodeEncodeError:  # JSON.stringify joins surrogate pairs and escapes lone surrogates
        joined = quoted.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return len(joined.encode("utf-8", "surrogatepass")) + 3 * _surrogates(joined)


def _surrogates(characters: Iterable[str]) -> int:
    return sum("\ud800" <= character <= "\udfff" for character in characters)


def _scalar_size(value: Any) -> int:
    if value is None or isinstance(value, bool):
        return len(_WORDS[value])
    if not isinstance(value, (int, float)):
        return 0
    return len(_plain(value if -SAFE_INTEGER <= value <= SAFE_INTEGER else _double(value)))


def _double(value: float) -> float | None:
    """The number that JavaScript would have; it writes what is not finite as null."""
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None
