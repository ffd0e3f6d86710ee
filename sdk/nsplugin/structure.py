"""Types, unknown keys and missing keys of a manifest, judged by walking its published JSON Schema (decision 0002).

Limits, names and references are the rules' work: the walk looks at ``type``, ``properties``, ``required``,
``additionalProperties``, ``items`` and ``const`` only, and at no more of a payload than that it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nsplugin.manifest_texts import text_faults
from nsplugin.nearest import closest
from nsplugin.platforms import NAMES, Platform, load
from nsplugin.pointers import join
from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin.schema_walk import Fault, Walk, compiled, meant
from nsplugin.wording import Origin, found, integer, listed, plain, quoted, token

__all__ = ["MANIFEST_VERSION", "MANIFEST_VERSIONS", "Fault", "faults", "mismatches", "platform_of", "version_fault"]

MANIFEST_VERSION: Final = 1
"""The manifest version that this tool writes."""

MANIFEST_VERSIONS: Final = (MANIFEST_VERSION,)
"""The manifest versions that this tool reads (spec/manifest.md M7)."""


def faults(raw: Any, platform: Platform, *, origin: Origin = "json") -> list[Problem]:
    """Every NSP006, NSP007 and NSP008 of a raw manifest, in document order; for an unread version that fault (NSP602) alone.

    ``origin``: "python" when the values are Python's own (``5.0`` is no integer), "json" when they were read from JSON.
    """
    version = version_fault(raw)
    if version is not None:
        return [version]
    schema = f"{platform.name}-manifest"
    found = mismatches(schema, raw, origin, platform.key_hints, platform.key_synonyms)
    texts = [("NSP007", text) for text in text_faults(raw, platform)] if isinstance(raw, Mapping) else []
    return [problem(*fault) for fault in (*found, *texts)]


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
    walk = Walk(origin, hints or {}, synonyms or {})
    walk.value(compiled(schema, origin), value, None)
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
        return problem("NSP006", Found(pointer=pointer, message=message, hint=meant("platform"), target="key", fix="platform"))
    if "platform" not in raw:
        return problem("NSP008", Found(pointer="", message='the manifest has no "platform"', hint=f'add "platform": {known}'))
    name = raw["platform"]
    message = f"platform must be {known}, not {found(name, 'json')}"
    near = closest(plain(name), NAMES) if isinstance(name, str) else None
    return problem("NSP007", Found(pointer="/platform", message=message, hint=meant(near) if near else None))


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
