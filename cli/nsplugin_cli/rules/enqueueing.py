"""NSP304-307: arguments of ``enqueue`` that the platform would refuse each time the call is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsplugin.pointers import UNKNOWN
from nsplugin.record import replace
from nsplugin.rules._family import Found, Rule
from nsplugin.runtime.enqueueing import key_faults
from nsplugin_cli.facts import Argument, Enqueue
from nsplugin_cli.rules.subject import SourceSubject

_RUN_AT: Final = "runAt"
_LATEST: Final = 8_640_000_000_000_000
"""The last moment that JavaScript's dates, and so the platforms, can hold."""
_PLUGIN: Final = """\
from nsplugin import Context, Job, Request, Response, Route, define_plugin


async def refresh(ctx: Context) -> None:
    ctx.log.info("refreshed")


async def post_refresh(request: Request, ctx: Context) -> Response:
    await ctx.jobs.enqueue(ARGUMENTS)
    return Response.json({"queued": True}, status=202)


plugin = define_plugin(
    id="cdn-refresh",
    jobs={"refresh": Job(refresh)},
    routes={"POST /refresh": Route(post_refresh, auth="user")},
)
"""
_PROJECT: Final = """\
from nsplugin.cogover import define_job


@define_job(key="recalc_totals")
async def recalc_totals(jobs):
    await jobs.enqueue(ARGUMENTS)


jobs = [recalc_totals]
"""


def _source(template: str, arguments: str) -> str:
    return template.replace("ARGUMENTS", arguments)


def _unknown_job(subject: SourceSubject) -> Iterator[Found]:
    declared = subject.job_names
    for call in subject.facts.enqueues if declared is not None else ():
        name = call.job.value if call.job is not None else UNKNOWN
        if call.job is not None and declared is not None and isinstance(name, str) and name not in declared:
            meant, misdeclared = subject.meant(name)
            if misdeclared:
                continue
            known = ", ".join(f'"{each}"' for each in sorted(declared)[:10])
            hint = f'did you mean "{meant}"?' if meant else f"declared are {known}" if known else "declare it first"
            message = f"{call.method} starts {_shown(name)}, which is not declared"
            yield replace(_at(call, call.job, message, hint), fix=meant)


def _delay(subject: SourceSubject) -> Iterator[Found]:
    policy = subject.platform.enqueue
    unit = "milliseconds" if policy.delay_unit_ms == 1 else "seconds"
    for call in subject.facts.enqueues:
        argument = call.options.get(policy.delay_field)
        if argument is not None and _is_scalar(argument) and not _is_whole(argument.value, policy.delay_max):
            message = f"{argument.written} is {_shown(argument.value)}, and must be a whole number from 0 to {policy.delay_max}"
            yield _at(call, argument, message, f"it counts {unit}")
        argument = call.options.get(_RUN_AT)
        if argument is not None and _is_scalar(argument) and not _is_whole(argument.value, _LATEST):
            message = f"{argument.written} is {_shown(argument.value)}, and must be a whole number of milliseconds since 1970"
            yield _at(call, argument, message, "int(moment.timestamp() * 1000)")


def _is_whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _key(subject: SourceSubject) -> Iterator[Found]:
    policy = subject.platform.enqueue
    for call in subject.facts.enqueues:
        argument = call.options.get(policy.key_field)
        if argument is not None and argument.value is not None and _is_scalar(argument):
            for fault in key_faults(policy, argument.value):
                yield _at(call, argument, f"{argument.written} {_shown(argument.value)} {fault}")


def _delay_and_run_at(subject: SourceSubject) -> Iterator[Found]:
    policy = subject.platform.enqueue
    for call in subject.facts.enqueues:
        delay, run_at = call.options.get(policy.delay_field), call.options.get(_RUN_AT)
        if _is_given(delay) and _is_given(run_at) and delay is not None and run_at is not None:
            later = max(delay, run_at, key=lambda argument: argument.span)
            message = f"{call.method} is given both {delay.written} and {run_at.written}"
            yield _at(call, later, message, "give one of them, or neither")


def _is_given(argument: Argument | None) -> bool:
    """Whether an option certainly has a value: ``None`` is as good as none, and an unknown may be that."""
    return argument is not None and argument.value is not None and argument.value is not UNKNOWN


def _is_scalar(argument: Argument) -> bool:
    return isinstance(argument.value, (str, int, float, bytes))


def _at(call: Enqueue, argument: Argument, message: str, hint: str | None = None) -> Found:
    return Found(pointer="", message=message, hint=hint, span=argument.span, path=call.path)


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= 60 else text[:57] + "…"


RULES: Final[tuple[Rule[SourceSubject], ...]] = (
    Rule(
        code="NSP304",
        name="enqueue-unknown-job",
        severity="error",
        summary="A handler, or a function that its context is passed to, enqueues a job that the plugin does not declare.",
        why="Each such call fails at run time, often far from the place where the job was renamed.",
        bad=_source(_PLUGIN, '"refesh"'),
        good=_source(_PLUGIN, '"refresh"'),
        source="spec/nextskin.md E1; spec/cogover.md E2",
        check=_unknown_job,
    ),
    Rule(
        code="NSP305",
        name="enqueue-delay-out-of-range",
        severity="error",
        summary="The delay of an enqueue call, or its point in time, is no whole number or is out of range.",
        why="The platform refuses the call. Often the unit is mistaken: one platform counts seconds, the other milliseconds.",
        bad=_source(_PLUGIN, '"refresh", delay_sec=2_592_001'),
        good=_source(_PLUGIN, '"refresh", delay_sec=2_592_000'),
        source="spec/nextskin.md E3; spec/cogover.md E4",
        check=_delay,
    ),
    Rule(
        code="NSP306",
        name="enqueue-key-invalid",
        severity="error",
        summary="The key by which an enqueue call avoids duplicates is not one that the platform takes.",
        why="The platform refuses the call.",
        bad=_source(_PLUGIN, '"refresh", dedupe_key=" daily "'),
        good=_source(_PLUGIN, '"refresh", dedupe_key="daily"'),
        source="spec/nextskin.md E4; spec/cogover.md E5",
        check=_key,
    ),
    Rule(
        code="NSP307",
        name="enqueue-delay-and-run-at",
        severity="error",
        summary="An enqueue call gives both a delay and a point in time.",
        why="The two contradict each other, so the platform refuses the call.",
        bad=_source(_PROJECT, '"recalc_totals", delay_ms=60_000, run_at=1_900_000_000_000'),
        good=_source(_PROJECT, '"recalc_totals", run_at=1_900_000_000_000'),
        source="spec/cogover.md E4",
        check=_delay_and_run_at,
        platforms=("cogover",),
    ),
)
