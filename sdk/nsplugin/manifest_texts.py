"""What the manifest's own texts must say, beyond being strings: its entry, its version, its capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from nsplugin.lazy import pattern
from nsplugin.nearest import closest
from nsplugin.platforms import Platform
from nsplugin.rules._family import Found
from nsplugin.wording import plain, quoted

ENTRY: Final = r"[^\s:./\\]+(?:\.[^\s:./\\]+)*:[^\s:./\\]+(?:\.[^\s:./\\]+)*"
"""A module and the attribute in it; never a path, which could lead out of the plugin's folder (spec/manifest.md M6)."""

_ENTRY: Final = pattern(ENTRY)
_SUGGESTIONS: Final = 100


def text_faults(raw: Mapping[Any, Any], platform: Platform) -> Iterator[Found]:
    """What is wrong with texts that have the right type; anything else is the structure's to say."""
    entry, version, capabilities = raw.get("entry"), raw.get("version"), raw.get("capabilities")
    if isinstance(entry, str) and _ENTRY.fullmatch(entry) is None:
        hint = f'for example "plugin:{platform.layout.attribute}"'
        yield Found(pointer="/entry", message=f"entry must be a module and its attribute, not {quoted(entry)}", hint=hint)
    if isinstance(version, str) and not version.strip():
        yield Found(pointer="/version", message="version is empty", hint='leave it out, or write one such as "1.4.0"')
    if isinstance(capabilities, (list, tuple)):
        yield from _capability_faults(capabilities, platform.capabilities.known)


def _capability_faults(names: list[Any] | tuple[Any, ...], known: tuple[str, ...]) -> Iterator[Found]:
    """Capabilities that we do not know may be newer than this tool; one letter beside a known one is a slip."""
    seen: dict[str, int] = {}
    for index, given in enumerate(names):
        if not isinstance(given, str):
            continue
        name, pointer = plain(given), f"/capabilities/{index}"
        first = seen.setdefault(name, index)
        near = closest(name, known, within=1) if name not in known and index < _SUGGESTIONS else None
        if not name or any(map(str.isspace, name)):
            message = f"capability {quoted(name)} has white space in it" if name else "the capability is empty"
            yield Found(pointer=pointer, message=message, hint=f"for example {quoted(known[0])}" if known else None)
        elif first != index:
            yield Found(pointer=pointer, message=f"capability {quoted(name)} stands at /capabilities/{first} already")
        elif near is not None:
            message = f"there is no capability {quoted(name)}"
            yield Found(pointer=pointer, message=message, hint=f'did you mean "{near}"?', fix=near)
