"""The rule about what can be called when a task or a request comes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsplugin.handlers import YIELDS, Handler, Parameter
from nsplugin.nearest import closest
from nsplugin.pointers import split
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import Subject
from nsplugin.wording import clipped, listed, quoted


def _handlers(subject: Subject) -> Iterator[Found]:
    parameters = subject.platform.handlers
    for pointer, handler in subject.handlers.items():
        allowed = parameters.route if pointer.startswith("/routes/") else parameters.job
        fault = _fault(handler, allowed, parameters.whole)
        if fault is not None:
            message, hint = fault
            yield Found(pointer=pointer + "/handler", message=f"the handler of {_owner(subject, pointer)} {message}", hint=hint)


def _owner(subject: Subject, pointer: str) -> str:
    section, last = split(pointer)[:2]
    if section == "routes":
        return f"route {quoted(last)}"
    name = next((job.name for job in subject.jobs if job.pointer == pointer), last)
    return f"job {quoted(name)}" if isinstance(name, str) else "this job"


def _fault(handler: Handler, allowed: tuple[str, ...], alone: str) -> tuple[str, str | None] | None:
    if handler.missing:
        return "is missing", f"give a function; {_offered(allowed)}"
    if not handler.callable:
        return f"must be a function, not {handler.described}", _CALLED if handler.described in _RESULTS else _offered(allowed)
    if handler.refused is not None:
        hint = "do all of the work when it is called: take out yield" if handler.refused == YIELDS else _offered(allowed)
        return f"cannot be {handler.described}: {handler.refused}", hint
    if handler.only_parameter == alone:
        return None
    wrong = [
        item
        for item in handler.parameters or ()
        if item.required and (item.positional_only or item.name == alone or item.name not in allowed)
    ]
    if not wrong:
        return None
    if any(item.name == alone for item in wrong):
        hint = f"`{alone}` holds all of {', '.join(allowed)}: name it alone, or leave it out and name those"
        return f"has parameters beside `{alone}`, which must stand alone", hint
    return _parameters(handler, wrong, allowed)


def _offered(allowed: tuple[str, ...]) -> str:
    return f"it is called with those of {', '.join(allowed)} that it names"


_CALLED: Final = "give the function itself, without calling it: leave out the parentheses"
_RESULTS: Final = ("None", "an instance of coroutine", "an instance of generator")
"""What calling a function gives, most likely: the author wrote ``Job(expire())``."""


def _parameters(handler: Handler, wrong: list[Parameter], allowed: tuple[str, ...]) -> tuple[str, str | None]:
    unnamed = [parameter for parameter in wrong if parameter.positional_only]
    if unnamed:
        names = _names(unnamed)
        if handler.described.startswith("built-in"):
            return (
                f"takes {names} by position only, but is called by name",
                f"write a function that calls it; {_offered(allowed)}",
            )
        return f"takes {names} by position only, but is called by name", f'remove the "/" from {handler.described}'
    near = closest(wrong[0].name, allowed) if len(wrong) == 1 else None
    if wrong[0].name == "self":
        return (
            f"requires {_names(wrong)}, which it is not called with",
            "give the method of an instance: K().method, not K.method",
        )
    hint = f"did you mean `{near}`?" if near else f"{_offered(allowed)}; give the others a default"
    return f"requires {_names(wrong)}, which it is not called with", hint


def _names(parameters: list[Parameter]) -> str:
    noun = "the parameter" if len(parameters) == 1 else "the parameters"
    return f"{noun} {listed(f'`{clipped(parameter.name)}`' for parameter in parameters)}"


_JOB = """\
from nsplugin import Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(id="cache", jobs={"expire": Job(expire)})
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP106",
        name="handler-invalid",
        severity="error",
        summary="A handler is missing, cannot be called, or requires something that it is not called with.",
        why="The mistake would show only when the first task runs, as a failed attempt for each retry.",
        bad=_JOB.replace("(payload, ctx)", "(event, ctx)"),
        good=_JOB,
        source="spec/nextskin.md D7; spec/cogover.md D2 H1; spec/sdk.md",
        check=_handlers,
    ),
)
