"""``define_plugin`` and the frozen plugin that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from nsplugin.definition.call_site import CallSite, caller
from nsplugin.definition.collect import collected
from nsplugin.definition.intake import Intake
from nsplugin.definition.judge import judged, platform_of
from nsplugin.definition.references import importable
from nsplugin.definition.signatures import DEFINE_PLUGIN
from nsplugin.errors import DefinitionError
from nsplugin.findings import problem
from nsplugin.frozen import freeze
from nsplugin.payload_model import PayloadModel
from nsplugin.pointers import join
from nsplugin.record import field, record
from nsplugin.rules import ordered

if TYPE_CHECKING:
    from nsplugin.definition.parts import Cron, Job, Route
    from nsplugin.rules import Problem

DEFINER = "define_plugin"


@record(eq=False)
class Plugin:
    """A NextSkin plugin as it was defined: deeply frozen, detached from what was passed in, hashable, picklable.

    ``manifest_source`` is what the author gave, by the manifest's names and without code. ``handlers`` holds the functions
    by the JSON pointer of their job or route, ``models`` the payload models by that of their job. ``sites`` says where in
    the source the definition ("") and its parts stand. ``problems`` is empty except inside ``collecting()``.
    """

    manifest_source: Mapping[str, Any]
    handlers: Mapping[str, Callable[..., Any]] = field(repr=False)
    models: Mapping[str, PayloadModel] = field(repr=False)
    sites: Mapping[str, CallSite] = field(repr=False)
    problems: tuple[Problem, ...] = field(default=(), repr=False)

    def handler(self, job: str) -> Callable[..., Any]:
        """The handler of a job by the job's name. Raises ``KeyError`` for a name that the plugin does not declare."""
        return self._declared("job", join("/jobs", job), job)

    def route(self, key: str) -> Callable[..., Any]:
        """The handler of a route by its key (``"POST /expire"``). Raises ``KeyError`` for one that is not declared."""
        return self._declared("route", join("/routes", key), key)

    def _declared(self, kind: str, pointer: str, name: str) -> Callable[..., Any]:
        if pointer not in self.handlers:
            raise KeyError(f"the plugin has no {kind} {name!r}")
        return self.handlers[pointer]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plugin):
            return NotImplemented
        return self.manifest_source == other.manifest_source and self.handlers == other.handlers

    def __hash__(self) -> int:
        return hash((Plugin, self.manifest_source))

    def __copy__(self) -> Plugin:
        return self

    def __deepcopy__(self, memo: Any) -> Plugin:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        named = {pointer: importable(value, f"the handler at {pointer}") for pointer, value in self.handlers.items()}
        return _made, (self.manifest_source, named, dict(self.models), dict(self.sites))


def _made(source: Any, handlers: Any, models: Any, sites: Any, problems: tuple[Problem, ...] = ()) -> Plugin:
    return Plugin(
        manifest_source=source,
        handlers=MappingProxyType(handlers),
        models=MappingProxyType(models),
        sites=MappingProxyType(sites),
        problems=problems,
    )


@overload
def define_plugin(config: Mapping[str, Any], /, **kwargs: Any) -> Plugin: ...


@overload
def define_plugin(
    *,
    id: str = ...,
    version: str = ...,
    capabilities: Sequence[str] = ...,
    jobs: Mapping[str, Job | Mapping[str, Any]] = ...,
    cron: Sequence[Cron | Mapping[str, Any]] = ...,
    routes: Mapping[str, Route | Mapping[str, Any]] = ...,
) -> Plugin: ...


def define_plugin(*args: Any, **kwargs: Any) -> Plugin:
    """Define a NextSkin plugin: what it may use, its jobs, schedules and routes.

    Takes keyword arguments, or one mapping with the manifest's names; jobs, schedules and routes are ``Job``, ``Cron`` and
    ``Route`` objects or mappings with the manifest's names (``{"maxAttempts": 5, "handler": expire}``), in any mix. ``id``
    and ``version`` may stand in the project file instead.

    Returns a :class:`Plugin`, frozen and detached from the arguments. Raises :class:`~nsplugin.errors.DefinitionError` with
    every problem when the platform would refuse any part of it.
    """
    intake = Intake(platform_of(DEFINER))
    raw = _raw(intake, args, kwargs)
    problems = tuple(ordered(judged(intake, raw)))
    site = caller()
    faulty = any(problem.severity == "error" for problem in problems)
    sites = intake.sites if site is None else {"": site, **intake.sites}
    plugin = _made(raw if faulty else freeze(raw), intake.callables, intake.models, sites, tuple(intake.problems))
    if not collected(plugin, problems, site) and faulty:
        raise DefinitionError(problems, DEFINER)
    return plugin


def _raw(intake: Intake, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    given = intake.call(DEFINE_PLUGIN, DEFINE_PLUGIN.bind(args, kwargs), "", "manifest")
    known = {argument.key for argument in DEFINE_PLUGIN.arguments}
    for key in set(intake.platform.layout.fields).intersection(given) - known:
        del given[key]
        message, hint = f"define_plugin takes no `{key}`: the build writes it", "leave it out"
        intake.problems.append(problem("NSP006", join("", key), message, hint, "key"))
    readers: dict[str, Callable[[Any, str], Any]] = {
        "jobs": lambda value, pointer: intake.mapping(value, pointer, intake.job),
        "cron": lambda value, pointer: intake.sequence(value, pointer, intake.cron),
        "routes": lambda value, pointer: intake.mapping(value, pointer, intake.route),
        "capabilities": lambda value, pointer: intake.sequence(value, pointer, intake.value),
    }
    return intake.read(given, "", readers)
