"""NSP006, NSP301, NSP302 at a call of ``enqueue``: what the platform would refuse of its options and its payload.

These are rules of manifests; here they hold for what a handler writes. Loaded for sources that enqueue something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from nsplugin.canonical import json_size
from nsplugin.nearest import closest, fold
from nsplugin.payload import not_json
from nsplugin.pointers import UNKNOWN
from nsplugin.rules import payloads
from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem
from nsplugin.runtime.enqueueing import option_names
from nsplugin.wording import counted
from nsplugin_cli.facts import Argument, Enqueue
from nsplugin_cli.rules.subject import SourceSubject

_PAYLOAD: Final = {rule.code: rule for rule in payloads.RULES}
_UNITS: Final = frozenset(("sec", "ms", "at"))
"""The last words of options that count time."""


def problems(subject: SourceSubject) -> Iterator[Problem]:
    """What is wrong with the options and payloads of all calls, each placed."""
    for call in subject.facts.enqueues:
        yield from _options(subject, call)
        lost = list(_lost(call))
        yield from (_PAYLOAD["NSP301"].problem(found) for found in lost)
        if not lost:
            yield from (_PAYLOAD["NSP302"].problem(found) for found in _too_large(subject, call))


def _options(subject: SourceSubject, call: Enqueue) -> Iterator[Problem]:
    known = option_names(subject.platform.enqueue)
    for name, option in call.options.items():
        if name not in known:
            yield _unknown(call, option, {each: each for each in known})
    for stray in call.strays:
        yield _unknown(call, stray, {_snake(name): name for name in known}, _others(subject, call))


def _others(subject: SourceSubject, call: Enqueue) -> list[str]:
    """The keywords beside those of options that the call could take."""
    others = {subject.platform.enqueue.job_argument: call.job, "payload": call.payload}
    return [name for name, given in others.items() if given is None]


def _unknown(call: Enqueue, argument: Argument, known: Mapping[str, str], others: Iterable[str] = ()) -> Problem:
    """``known``: how options are spelt here, and their names."""
    near = closest(argument.written, (*known, *others))
    hint = f"did you mean `{near}`?" if near else f"there are {', '.join(known)}"
    message = f"{argument.written} is no option of {call.method}"
    safe = near is not None and known.get(near) not in call.options and _is_same_unit(argument.written, near)
    span, fix = argument.named or argument.span, near if safe else None
    return problem("NSP006", Found(pointer="", message=message, hint=hint, target="key", span=span, path=call.path, fix=fix))


def _is_same_unit(written: str, meant: str) -> bool:
    """Whether a value keeps its meaning under the name meant: in ``delay_s`` it counts other than in ``delay_ms``."""
    unit = _last_word(meant)
    return unit not in _UNITS or fold(written) == fold(meant) or _last_word(written) in (unit, f"{unit}s")


def _last_word(name: str) -> str:
    return re.split("_|(?<=[a-z])(?=[A-Z])", name)[-1].lower()


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _lost(call: Enqueue) -> Iterator[Found]:
    """The parts that JSON would change or lose; of a payload without places its first."""
    for part in call.lost:
        yield Found(pointer="", message=part.message, hint=part.hint, span=part.span, path=part.path)
    if call.lost or call.payload is None or call.payload.value is UNKNOWN:
        return
    for found in not_json(call.payload.value, ""):
        where = f" at {found.pointer}" if found.pointer else ""
        message = f"the payload{where}: {found.message}"
        yield Found(pointer="", message=message, hint=found.hint, span=call.payload.span, path=call.path)
        return


def _too_large(subject: SourceSubject, call: Enqueue) -> Iterator[Found]:
    most = subject.platform.payload.max_bytes
    size = 0 if call.payload is None or call.payload.value is UNKNOWN else json_size(call.payload.value)
    if call.payload is not None and size > most:
        message = f"the payload has {counted(size, 'byte')} as JSON; {subject.platform.title} takes at most {most:,}"
        hint = "store the data and pass a key to it"
        yield Found(pointer="", message=message, hint=hint, span=call.payload.span, path=call.path)
