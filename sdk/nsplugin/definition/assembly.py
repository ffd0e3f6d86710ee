"""From the value of a module attribute to a whole raw manifest: what the build, the host and tests start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.definition.call_site import CallSite
from nsplugin.definition.identity import FROM_PROJECT, contradictions
from nsplugin.definition.job import DEFINER as JOB_DEFINER
from nsplugin.definition.job import Decorator, JobDefinition
from nsplugin.definition.judge import MANIFEST_VERSION, check, platform_of
from nsplugin.definition.plugin import DEFINER as PLUGIN_DEFINER
from nsplugin.definition.plugin import Plugin
from nsplugin.detach import detach
from nsplugin.findings import moved, problem
from nsplugin.handler_objects import describe
from nsplugin.handlers import MISSING, Handler
from nsplugin.payload_model import PayloadModel
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join, split
from nsplugin.record import field, record
from nsplugin.rules import ordered

if TYPE_CHECKING:
    from nsplugin.rules import Problem


@record(frozen=False)
class Assembled:
    """A whole definition.

    ``raw``: the raw manifest, before defaults. ``handlers``: what is known of each handler, by the pointer of its job or route.
    ``call``: the handlers themselves by job name; ``routes`` by route key; ``payload_models`` by job name.
    ``calls``: where the definers were called, by the pointer of what they define. ``problems``: all findings on the whole.
    """

    raw: dict[str, Any] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    call: dict[str, Callable[..., Any]] = field(default_factory=dict)
    routes: dict[str, Callable[..., Any]] = field(default_factory=dict)
    payload_models: dict[str, PayloadModel] = field(default_factory=dict)
    calls: dict[str, CallSite] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def assemble(value: Any, platform: Platform, project: Mapping[str, Any]) -> Assembled:
    """The definition that a module attribute holds, completed by the project file and judged as a whole.

    ``project`` may hold ``id``, ``version``, ``entry`` (``"plugin:plugin"``) and ``timezone``, the site's. Never raises on what
    an author wrote: a value that is no definition is a problem, and leaves ``raw`` empty.
    """
    assembled = Assembled()
    problems = list(_TAKE[platform.layout.jobs](assembled, value, platform))
    if assembled.raw:
        problems += _complete(assembled, platform, project)
        problems += check(platform, assembled.raw, assembled.handlers, project.get("timezone"))
    assembled.problems = tuple(ordered(problems))
    return assembled


def _take_plugin(assembled: Assembled, value: Any, platform: Platform) -> Iterator[Problem]:
    if not isinstance(value, Plugin):
        yield _no_definition(value, platform, f"write {platform.layout.attribute} = {platform.layout.definer}(…)")
        return
    assembled.raw = _start(platform, detach(value.manifest_source))
    for place, table in (("jobs", assembled.call), ("routes", assembled.routes)):
        _take_handlers(assembled, value, place, table)
    assembled.payload_models = {split(pointer)[1]: model for pointer, model in value.models.items()}
    assembled.calls = dict(value.sites)
    yield from value.problems


def _take_handlers(assembled: Assembled, plugin: Plugin, place: str, table: dict[str, Callable[..., Any]]) -> None:
    holders = assembled.raw.get(place)
    for name, options in holders.items() if isinstance(holders, dict) else ():
        pointer = join("", place, name)
        if pointer in plugin.handlers:
            table[name] = plugin.handlers[pointer]
            assembled.handlers[pointer] = describe(table[name])
        elif isinstance(options, dict) and UNKNOWN not in options:
            assembled.handlers[pointer] = MISSING


def _take_jobs(assembled: Assembled, value: Any, platform: Platform) -> Iterator[Problem]:
    attribute, definer = platform.layout.attribute, platform.layout.definer
    if not isinstance(value, (list, tuple)) or any(isinstance(item, Plugin) for item in value):
        yield _no_definition(value, platform, f"write {attribute} = [{definer}(…)]")
        return
    assembled.raw = _start(platform, {"jobs": []})
    for index, item in enumerate(value):
        yield from _take_job(assembled, item, join("/jobs", index), definer)


def _take_job(assembled: Assembled, item: Any, pointer: str, definer: str) -> Iterator[Problem]:
    if isinstance(item, (JobDefinition, Decorator)) and item.site is not None:
        assembled.calls[pointer] = item.site
    if not isinstance(item, JobDefinition):
        assembled.raw["jobs"].append(UNKNOWN)
        yield _no_job(item, pointer, definer)
        return
    assembled.raw["jobs"].append(detach(item.source))
    handler: Any = item.__cogover_job_handler__
    if handler is not MISSING:
        assembled.call.setdefault(item.key, handler)
        assembled.handlers[pointer] = describe(handler)
    elif UNKNOWN not in item.source:
        assembled.handlers[pointer] = MISSING
    yield from moved(item.problems, pointer)


def _no_job(item: Any, pointer: str, definer: str) -> Problem:
    if isinstance(item, Decorator):
        message = f"this {definer}(…) never got its handler"
        return problem("NSP007", pointer, message, f"write it above the handler as @{definer}(…)")
    return problem("NSP007", pointer, f"this is {describe(item).described}, not a job", f"write {definer}(…)")


def _no_definition(value: Any, platform: Platform, hint: str) -> Problem:
    layout = platform.layout
    message = f"`{layout.attribute}` holds {describe(value).described}, not {_WANTED[layout.jobs]}{layout.definer} returns"
    other = next((kind for kind in _DEFINERS if isinstance(value, kind)), None)
    if other is not None and _DEFINERS[other] != layout.definer:
        hint = f'it comes from {_DEFINERS[other]}: set platform = "{platform_of(_DEFINERS[other]).name}" in the project file'
    return problem("NSP004", "", message, hint)


def _complete(assembled: Assembled, platform: Platform, project: Mapping[str, Any]) -> Iterator[Problem]:
    """Fill in what the project file gives, in the manifest's order (spec/sdk.md: both and different is an error)."""
    raw = assembled.raw
    yield from contradictions(raw, project)
    from_project = {key: project[key] for key in (*FROM_PROJECT, "entry") if key in project}
    whole = {**from_project, **raw}
    known = {key: whole[key] for key in platform.layout.fields if key in whole}
    assembled.raw = {**known, **whole}


def _start(platform: Platform, raw: dict[str, Any]) -> dict[str, Any]:
    return {"manifestVersion": MANIFEST_VERSION, "platform": platform.name, **raw}


_DEFINERS: Final[dict[type, str]] = {Plugin: PLUGIN_DEFINER, JobDefinition: JOB_DEFINER}
_WANTED: Final = {"mapping": "what ", "list": "a list of what "}
_TAKE: Final = {"mapping": _take_plugin, "list": _take_jobs}
"""How a definition is taken apart, by where a platform's manifest keeps its jobs."""
