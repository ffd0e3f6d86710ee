"""Alternatives: which one an author most likely meant, and one sentence where that cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nsplugin.json_schema.mismatch import Mismatch
from nsplugin.json_schema.words import TYPE_WORDS, either, shown
from nsplugin.place import Place, tokens

Faults = Sequence[Mismatch]


def misfit(value: Any, branches: Sequence[Any], faults: Sequence[Faults], place: Place) -> list[Mismatch]:
    """What to say of a value that fits no branch; ``faults`` has the mismatches of each.

    Branches of another type or constant do not count as long as there are others. Of those, one whose tags fit (constants of
    its properties, such as ``kind``) is the one that was meant; what is wrong by all of them is wrong.
    """
    serious = [each for each in faults if not _is_flat(each, place)]
    if not serious:
        return [_expecting(place, value, [each[0] for each in faults])]
    meant = [each for each in serious if not _tags(each, place)] or serious
    if len(meant) == 1:
        return list(meant[0])
    others = [set(each) for each in meant[1:]]
    common = [found for found in meant[0] if all(found in each for each in others)]
    return common or _wrong_tag(value, meant, place) or [_none(branches, faults, place)]


def too_many(branches: Sequence[Any], fitting: Sequence[int], place: Place) -> Mismatch:
    """What to say of a value that fits several of alternatives that exclude each other."""
    first, second = (name_of(branches[number], number) for number in fitting[:2])
    return Mismatch(place, f"fits both {first} and {second}, which exclude each other")


def name_of(schema: Any, number: int) -> str:
    """What an author calls a branch: its title, its definition's name, its type."""
    known = schema if isinstance(schema, dict) else {}
    title, reference, kind = known.get("title"), known.get("$ref"), known.get("type")
    if isinstance(title, str) or isinstance(reference, str):
        return shown(title if isinstance(title, str) else str(reference).rpartition("/")[2])
    if "const" in known:
        return shown(known["const"])
    return TYPE_WORDS[kind] if isinstance(kind, str) and kind in TYPE_WORDS else f"alternative {number + 1}"


def _is_flat(faults: Faults, place: Place) -> bool:
    """Whether nothing but the type or the constant of the value itself is wrong."""
    return len(faults) == 1 and faults[0].place == place and faults[0].sort != "other"


def _tags(faults: Faults, place: Place) -> list[Mismatch]:
    """The mismatches of constants in the value's own properties."""
    return [found for found in faults if found.sort == "constant" and found.place is not None and found.place[0] == place]


def _expecting(place: Place, value: Any, faults: Faults) -> Mismatch:
    expected, more = tuple(word for each in faults for word in each.expected), sum(each.more for each in faults)
    text = f"expected {either(expected, more)}, got {shown(value)}"
    return Mismatch(place, text, sort="type", expected=expected, more=more)


def _wrong_tag(value: Any, branches: Sequence[Faults], place: Place) -> list[Mismatch]:
    """The tag that is wrong by every branch, with all that it may be."""
    by_place: dict[Place, list[Mismatch]] = {}
    for each in branches:
        for found in _tags(each, place):
            by_place.setdefault(found.place, []).append(found)
    for candidate, same in by_place.items():
        if len(same) == len(branches) and candidate is not None:
            tag = value.get(candidate[1]) if isinstance(value, dict) else None
            return [_expecting(candidate, tag, same)]
    return []


def _none(branches: Sequence[Any], faults: Sequence[Faults], place: Place) -> Mismatch:
    names = [name_of(branch, number) for number, branch in enumerate(branches)]
    nearest = min(range(len(faults)), key=lambda number: len(faults[number]))
    first = faults[nearest][0]
    inside = ".".join(tokens(first.place)[len(tokens(place)) :])
    hint = f"to be {names[nearest]}: {inside}{': ' if inside else ''}{first.text}"
    return Mismatch(place, f"fits none of the alternatives {either(names)}", hint)
