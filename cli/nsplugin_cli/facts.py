"""What the source shows beside the manifest: plain data that every static reader fills and the lint rules judge.

Nothing here knows a language. Names of options are the manifest's own (``delaySec``), whatever the source's spelling is;
``written`` keeps the author's spelling for messages. A value that was not evaluated is ``UNKNOWN`` and is never reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nsplugin.record import record
from nsplugin.row import Row
from nsplugin.spans import Span

_NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})


@record(kw_only=False)
class Argument:
    """An argument of a call: its value (raw, may be or hold ``UNKNOWN``), where it stands, and the name it was written with.

    ``named``: where that name stands, if it has a place of its own.
    """

    value: Any
    span: Span
    written: str = ""
    named: Span | None = None


class Lost(Row):
    """A part of an enqueued payload that JSON would change or lose (NSP301)."""

    message: str
    hint: str | None
    span: Span
    path: str


@record(kw_only=False)
class Timer:
    """Something that runs by the clock, or for ever, and is started while the entry is loaded (NSP401).

    ``what`` names it as the author knows it (``threading.Timer``, ``setInterval``, ``an endless loop``).
    """

    what: str
    path: str
    span: Span


@record(kw_only=False)
class Enqueue:
    """A call of the context's ``enqueue`` (NSP304-307), in a handler or in a helper that a handler's context reaches.

    ``method`` is the call as written (``ctx.jobs.enqueue``). ``job`` is ``None`` when the call names none.
    ``payload`` is ``None`` when none is given. ``options`` are by the manifest's names; ``open``: others may be given too.
    ``strays``: arguments given by keywords that the method does not have.
    ``lost``: the parts of the payload that have no form in JSON, and so no value here.
    """

    method: str
    path: str
    span: Span
    job: Argument | None
    payload: Argument | None = None
    options: Mapping[str, Argument] = _NO_OPTIONS
    open: bool = False
    strays: tuple[Argument, ...] = ()
    lost: tuple[Lost, ...] = ()


@record(kw_only=False)
class ContextUse:
    """A use of one of the context's services (NSP501, 502): ``attribute`` is ``kv`` for ``ctx.kv.delete(…)``."""

    attribute: str
    written: str
    path: str
    span: Span


@record(kw_only=False)
class PayloadRead:
    """The first place where a job's handler takes something out of a payload that nothing looked at (NSP402).

    A reader reports it only when the handler neither hands the payload (or a part of it) to anything that may check it nor
    tests it anywhere: a condition, a comparison, a type test, a conversion, a schema's ``parse`` all count as a look.
    ``job`` is the pointer of the job. Whether the job has a payload model is the rule's to see.
    """

    job: str
    written: str
    path: str
    span: Span


@record(kw_only=False)
class SecretRaised:
    """A secret put into the message of an exception that leaves a handler (NSP403). ``name`` is the expression as written."""

    name: str
    path: str
    span: Span


@record(kw_only=False)
class Facts:
    """The facts of one definition, each list in the order of path and line.

    ``context_known``: every handler was read and none hands its context to code that was not, so that a use which is not listed
    does not exist. ``never_retryable``: pointers of the jobs whose handlers, read to the last call, cannot raise
    ``RetryableError``.
    """

    timers: tuple[Timer, ...] = ()
    enqueues: tuple[Enqueue, ...] = ()
    context_uses: tuple[ContextUse, ...] = ()
    context_known: bool = False
    payload_reads: tuple[PayloadRead, ...] = ()
    secrets_raised: tuple[SecretRaised, ...] = ()
    never_retryable: frozenset[str] = frozenset()


@record(kw_only=False)
class Ignore:
    """A comment ``nsplugin: ignore[NSP211, NSP209]``, which silences these codes on its line.

    ``span`` is the comment's own. ``codes`` holds each code and its span. ``fault`` says what is wrong with how it is written.
    """

    codes: tuple[tuple[str, Span], ...]
    span: Span
    fault: str | None = None
