"""``define_job`` and the frozen job definition that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from nsplugin.definition.arguments import CONFIG, Bound
from nsplugin.definition.call_site import CallSite, caller
from nsplugin.definition.collect import collected, is_collecting
from nsplugin.definition.intake import Intake
from nsplugin.definition.judge import judged, platform_of
from nsplugin.definition.references import found_at, importable, resolved
from nsplugin.definition.signatures import DEFINE_JOB
from nsplugin.findings import problem
from nsplugin.frozen import FrozenDict, freeze
from nsplugin.handlers import MISSING
from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record, replace
from nsplugin.rules import ordered

if TYPE_CHECKING:
    from nsplugin.definition.parts import Schedule
    from nsplugin.rules import Problem

DEFINER = "define_job"
_POINTER = "/jobs/0"


@record(eq=False)
class JobDefinition:
    """A Cogover job: ``key`` and ``config``, deeply frozen and detached; hashable and picklable.

    ``config`` is plain JSON data with every default applied; options that were not given and have no default are absent.
    The handler is reserved for the platform: code of the project does not call it.

    ``source`` is what the author gave, ``site`` where; ``problems`` is empty except inside ``collecting()``.
    """

    config: Mapping[str, Any]
    __cogover_job_handler__: Callable[..., Any] = field(repr=False)
    source: Mapping[Any, Any] = field(repr=False)
    site: CallSite | None = field(default=None, repr=False)
    problems: tuple[Problem, ...] = field(default=(), repr=False)

    @property
    def key(self) -> str:
        """The job's key, unique in its project without regard to case."""
        key: str = self.config.get("key", "")
        return key

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JobDefinition):
            return NotImplemented
        handlers = (self.__cogover_job_handler__, other.__cogover_job_handler__)
        return self.config == other.config and handlers[0] == handlers[1]

    def __hash__(self) -> int:
        return hash((JobDefinition, self.config))

    def __copy__(self) -> JobDefinition:
        return self

    def __deepcopy__(self, memo: Any) -> JobDefinition:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        handler = self.__cogover_job_handler__
        if found_at(handler) is self:
            return resolved, (handler.__module__, handler.__qualname__)
        return _restored, (self.config, importable(handler, f"the job {self.key}"), self.source, self.site)


def _restored(config: FrozenDict, handler: Any, source: FrozenDict, site: CallSite | None) -> JobDefinition:
    return JobDefinition(config=config, __cogover_job_handler__=handler, source=source, site=site)


class Undecorated(JobDefinition):
    """A job without a handler, inside ``collecting()``: standing above a function it leaves its own problems to be reported."""

    __slots__ = ()

    def __call__(self, handler: Callable[..., Any]) -> JobDefinition:
        return self


class Decorator:
    """``define_job(key="…")`` before it got its handler."""

    __slots__ = ("_bound", "site")

    def __init__(self, bound: Bound, site: CallSite | None) -> None:
        self._bound = bound
        self.site = site

    def __call__(self, handler: Callable[..., Any]) -> JobDefinition:
        bound = replace(self._bound, given={**self._bound.given, "handler": handler})
        return _define(bound, self.site)


@overload
def define_job(config: Mapping[str, Any], handler: Callable[..., Any], /) -> JobDefinition: ...


@overload
def define_job(
    *,
    key: str,
    name: str = ...,
    timeout_ms: int = ...,
    max_attempts: int = ...,
    schedule: Schedule | Mapping[str, Any] = ...,
) -> Callable[[Callable[..., Any]], JobDefinition]: ...


def define_job(*args: Any, **kwargs: Any) -> Any:
    """Define a Cogover job, as ``define_job(config, handler)`` or as a decorator, ``@define_job(key=…)``.

    ``config`` is a mapping with ``key``, ``name``, ``timeoutMs`` (milliseconds per attempt), ``maxAttempts`` (attempts in all)
    and ``schedule`` (``{"cron", "timezone"}``); the decorator takes the same by keyword. The handler, sync or async, is called
    with those fields of the context that it names, or with all of it if its only parameter is ``context``.

    Returns a frozen :class:`JobDefinition` (the decorator does). Raises :class:`~nsplugin.cogover.ValidationError` with every
    problem when the platform would refuse any part of it.
    """
    bound, site = DEFINE_JOB.bind(args, kwargs), caller()
    if CONFIG.key in bound.given or "handler" in bound.given:
        return _define(bound, site)
    if not is_collecting():
        _raise_for(_judged(bound)[2])
    return Decorator(bound, site)


def _define(bound: Bound, site: CallSite | None) -> JobDefinition:
    bound.given.setdefault("handler", MISSING)
    intake, raw, problems = _judged(bound)
    faulty = any(problem.severity == "error" for problem in problems)
    kind = JobDefinition if _POINTER in intake.callables else Undecorated
    definition = kind(
        config=raw if faulty else _config(intake, raw),
        __cogover_job_handler__=intake.callables.get(_POINTER, MISSING),
        source=raw if faulty else freeze(raw),
        site=site,
        problems=_relative(intake.problems),
    )
    if not collected(definition, problems, site):
        _raise_for(problems)
    return definition


def _judged(bound: Bound) -> tuple[Intake, dict[str, Any], tuple[Problem, ...]]:
    """The job's raw configuration and its problems; its handler is judged when it was given."""
    intake = Intake(platform_of(DEFINER))
    options = dict(bound.given)
    handler = options.pop("handler", None)
    given = intake.call(DEFINE_JOB, replace(bound, given=options), _POINTER, "job")
    inner = _handler_inside(intake, given)
    if "handler" in bound.given and not (handler is MISSING and UNKNOWN in given):
        intake.handler(inner if handler is MISSING else handler, _POINTER)
    raw = intake.read(given, _POINTER, {"schedule": intake.schedule})
    return intake, raw, _relative(judged(intake, {"jobs": [raw]}))


def _handler_inside(intake: Intake, given: dict[str, Any]) -> Any:
    """Take a handler out of the configuration, where it does not belong; ``MISSING`` when there is none."""
    if "handler" not in given:
        return MISSING
    message, hint = "the handler is no part of the configuration", "write define_job({…}, handler)"
    intake.problems.append(problem("NSP006", _POINTER + "/handler", message, hint, "key"))
    return given.pop("handler")


def _relative(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems with pointers into the job's configuration: where the job will stand in a list is not known yet."""
    return tuple(ordered(replace(problem, pointer=problem.pointer.partition(_POINTER)[2]) for problem in problems))


def _config(intake: Intake, raw: dict[str, Any]) -> Any:
    from nsplugin.manifest import normalised

    return freeze(normalised({"jobs": [raw]}, intake.platform)["jobs"][0])


def _raise_for(problems: tuple[Problem, ...]) -> None:
    from nsplugin.cogover.errors import ValidationError

    if any(problem.severity == "error" for problem in problems):
        raise ValidationError(DEFINER, problems=problems)
