"""NSP401: nothing runs by the clock because a module was loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsplugin.rules._family import Found, Rule
from nsplugin_cli.rules.subject import SourceSubject

_BAD: Final = """\
import threading

from nsplugin import Context, Job, define_plugin


def tidy(ctx: Context) -> None:
    ctx.log.info("tidied")


threading.Timer(3600, print).start()
plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)})
"""
_GOOD: Final = """\
from nsplugin import Context, Cron, Job, define_plugin


def tidy(ctx: Context) -> None:
    ctx.log.info("tidied")


plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)}, cron=[Cron("0 * * * *", job="tidy")])
"""
_HINTS: Final = {
    "list": 'declare the work as a job, and start it by an entry of "cron"',
    "in-job": 'declare the work as a job with a "schedule"',
}
"""Where the schedules stand on a platform, and so what to write instead."""


def _timers(subject: SourceSubject) -> Iterator[Found]:
    for timer in subject.facts.timers:
        message = f"{timer.what} starts when the module is loaded"
        hint = _HINTS[subject.platform.layout.schedules]
        yield Found(pointer="", message=message, hint=hint, span=timer.span, path=timer.path)


RULES: Final[tuple[Rule[SourceSubject], ...]] = (
    Rule(
        code="NSP401",
        name="top-level-timer",
        severity="error",
        summary="A timer, an event loop or an endless loop starts when the entry's module is loaded.",
        why=(
            "The module is loaded by the build, by each host and by each test, at any time and more than once. What it starts "
            "is neither retried nor stopped, and runs once for each process. Work that is due later is a job."
        ),
        bad=_BAD,
        good=_GOOD,
        source="spec/nextskin.md D1",
        check=_timers,
    ),
)
