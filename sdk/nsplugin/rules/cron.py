"""Rules about cron expressions: their grammar, their length, whether they ever fire, and the job that they start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from nsplugin.cron import Expression, never_fires, normalise
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import Subject
from nsplugin.wording import clipped, counted, listed, plain, quoted

_MOST: Final = 50
"""So many faults of one expression are reported, and so many misspelt job names looked up: foreign input stays cheap."""

_DECLARED: Final = 10
"""How many declared jobs a hint names."""

_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November")
"""December has every day."""


def _grammar(code: str) -> Callable[[Subject], Iterator[Found]]:
    """The check that passes on what the grammar finds under one code."""

    def check(subject: Subject) -> Iterator[Found]:
        for schedule, faults in subject.ungrammatical:
            for fault in islice((fault for fault in faults if fault.code == code), _MOST):
                yield Found(
                    pointer=schedule.expression_pointer,
                    message=fault.message,
                    hint=fault.hint,
                    start=fault.column - 1,
                    end=fault.end_column - 1,
                    fix=fault.fix,
                )

    return check


def _unknown_job(subject: Subject) -> Iterator[Found]:
    names = subject.job_names
    if names is None:
        return
    strangers = [view for view in subject.schedules if isinstance(view.job, str) and view.job not in names]
    declared = _declared(list(islice(names, _DECLARED + 1))) if strangers else ""
    for number, schedule in enumerate(strangers):
        near, misdeclared = subject.meant(schedule.job) if number < _MOST else (None, False)
        if misdeclared:
            continue
        yield Found(
            pointer=schedule.job_pointer,
            message=f"job {quoted(schedule.job)} is not declared in jobs",
            hint=f'did you mean "{near}"?' if near else declared,
            fix=near,
        )


def _declared(names: list[str]) -> str:
    if not names:
        return 'no jobs are declared: add it to "jobs"'
    more = ["…"] if len(names) > _DECLARED else []
    return f"declared jobs: {', '.join([*map(clipped, names[:_DECLARED]), *more])}"


def _too_long(subject: Subject) -> Iterator[Found]:
    most = subject.platform.cron.max_length
    for schedule in subject.schedules:
        text = schedule.expression
        if isinstance(text, str) and len(text) > most and len(normalise(plain(text))) > most:
            length = counted(len(normalise(plain(text))), "character")
            yield Found(
                pointer=schedule.expression_pointer,
                message=f"the expression has {length}, white space counted once; {subject.platform.title} takes at most {most}",
                hint="shorten lists to ranges and steps: 0,10,20,30,40,50 is */10",
            )


def _never(subject: Subject) -> Iterator[Found]:
    for schedule in subject.schedules:
        expression = schedule.parsed
        if expression is not None and never_fires(expression):
            yield Found(
                pointer=schedule.expression_pointer,
                message=f"{quoted(expression.text)} never fires: {_impossible(expression)}",
                hint="choose a day that the month has",
            )


def _impossible(expression: Expression) -> str:
    days = listed((str(day) for day in range(1, 32) if expression.days >> day & 1), "or")
    months = listed((name for number, name in enumerate(_MONTHS, 1) if expression.months >> number & 1), "or")
    return f"there is no day {days} in {months}"


_PLUGIN = """\
from nsplugin import Cron, Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(
    id="cache",
    jobs={"expire": Job(expire)},
    cron=[Cron("0 3 * * *", job="expire")],
)
"""


def _schedule(expression: str) -> str:
    return _PLUGIN.replace("0 3 * * *", expression)


RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP201",
        name="cron-field-count",
        severity="error",
        summary="A cron expression has not exactly five fields.",
        why="The platforms know minute, hour, day of month, month and day of week. A six-field expression begins with seconds,"
        " and would fire at other times than its author meant.",
        bad=_schedule("0 0 3 * * *"),
        good=_PLUGIN,
        source="spec/nextskin.md C2; spec/cron.md G1",
        check=_grammar("NSP201"),
    ),
    Rule(
        code="NSP202",
        name="cron-syntax",
        severity="error",
        summary="A field of a cron expression is not a list of *, n, a-b, */s, a-b/s.",
        why="Names, macros and the signs of other schedulers (MON, @daily, L, W, #, ?) are not supported by the platforms.",
        bad=_schedule("0 3 * * MON"),
        good=_schedule("0 3 * * 1"),
        source="spec/cron.md G2 G3",
        check=_grammar("NSP202"),
    ),
    Rule(
        code="NSP203",
        name="cron-value-out-of-range",
        severity="error",
        summary="A number in a cron expression is outside its field's range.",
        why="There is no hour 24: midnight is hour 0.",
        bad=_schedule("0 24 * * *"),
        good=_schedule("0 0 * * *"),
        source="spec/cron.md G1 G2",
        check=_grammar("NSP203"),
    ),
    Rule(
        code="NSP204",
        name="cron-unknown-job",
        severity="error",
        summary="A schedule names a job that the plugin does not declare.",
        why="Nothing would run: a schedule starts only the plugin's own jobs.",
        bad=_PLUGIN.replace('job="expire"', 'job="expires"'),
        good=_PLUGIN,
        source="spec/nextskin.md C1",
        check=_unknown_job,
        platforms=("nextskin",),
    ),
    Rule(
        code="NSP205",
        name="cron-too-long",
        severity="error",
        summary="A cron expression is longer than the platform takes, white space counted once.",
        why="The platform refuses it, however regular it is.",
        bad=_PLUGIN.replace('"0 3 * * *"', '"0 3 " + ",".join(str(n % 28 + 1) for n in range(1000)) + " * *"'),
        good=_PLUGIN,
        source="spec/cogover.md D6; spec/cron.md G1",
        check=_too_long,
    ),
    Rule(
        code="NSP207",
        name="cron-never-fires",
        severity="error",
        summary="No date matches the schedule, in no year.",
        why="The job would never run, and nobody would notice.",
        bad=_schedule("0 3 30 2 *"),
        good=_schedule("0 3 28 2 *"),
        source="spec/nextskin.md C3; spec/cron.md G5",
        check=_never,
    ),
)
