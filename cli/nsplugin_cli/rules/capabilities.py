"""NSP501, 502: the capabilities that a plugin declares are those that its handlers use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nsplugin.nearest import closest
from nsplugin.pointers import UNKNOWN, join
from nsplugin.rules._family import Found, Rule
from nsplugin.wording import plain
from nsplugin_cli.rules.subject import SourceSubject

_COMPARED: Final = 100
"""So many names are compared with what was meant: more are no capabilities."""
_PLUGIN: Final = """\
from nsplugin import Context, Job, define_plugin


async def tidy(ctx: Context) -> None:
    BODY


plugin = define_plugin(id="tidy", CAPABILITIESjobs={"tidy": Job(tidy)})
"""
_USES: Final = _PLUGIN.replace("BODY", 'await ctx.kv.delete("stale")')
_LOGS: Final = _PLUGIN.replace("BODY", 'ctx.log.info("tidied")')
_DECLARED: Final = 'capabilities=["storage.kv"], '


def _declared(subject: SourceSubject) -> Sequence[Any] | None:
    """The declared capabilities, ``None`` when they are not all known."""
    declared = subject.raw.get("capabilities", ())
    if UNKNOWN in subject.raw or not isinstance(declared, (list, tuple)) or any(item is UNKNOWN for item in declared):
        return None
    return declared


def _undeclared(subject: SourceSubject) -> Iterator[Found]:
    declared = _declared(subject)
    missing = {needed for needed in subject.platform.context.needs.values() if not _is_meant(needed, declared)}
    for use in subject.facts.context_uses if missing else ():
        needed = subject.platform.context.needs.get(use.attribute)
        if needed in missing:
            message = f'{use.written} needs the capability "{needed}", which the plugin does not declare'
            hint = f'add "{needed}" to its capabilities'
            yield Found(pointer="/capabilities", message=message, hint=hint, span=use.span, path=use.path)


def _is_meant(needed: str, declared: Sequence[Any] | None) -> bool:
    """Whether a capability is declared, or may be; one that is misspelt is reported as that (NSP007), which is enough."""
    if declared is None or needed in declared:
        return True
    given = (plain(name) for name in declared[:_COMPARED] if isinstance(name, str))
    return any(name.strip() == needed or closest(name, [needed], within=1) for name in given)


def _unused(subject: SourceSubject) -> Iterator[Found]:
    if not subject.facts.context_known or not _all_handlers_known(subject):
        return
    needs = subject.platform.context.needs
    used = {needs.get(use.attribute) for use in subject.facts.context_uses}
    for index, name in enumerate(_declared(subject) or ()):
        if name in needs.values() and name not in used:
            fields = " or ".join(f"ctx.{field}" for field, needed in needs.items() if needed == name)
            message = f'the capability "{name}" is declared, but no handler uses {fields}'
            yield Found(pointer=join("/capabilities", index), message=message, hint="leave it out")


def _all_handlers_known(subject: SourceSubject) -> bool:
    routes = subject.raw.get("routes", {})
    known_routes = isinstance(routes, Mapping) and UNKNOWN not in routes and all(map(_is_mapping, routes.values()))
    jobs = subject.raw.get("jobs", {})
    return known_routes and subject.job_names is not None and isinstance(jobs, Mapping) and all(map(_is_mapping, jobs.values()))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


RULES: Final[tuple[Rule[SourceSubject], ...]] = (
    Rule(
        code="NSP501",
        name="capability-undeclared",
        severity="error",
        summary="A handler uses a service of its context whose capability the plugin does not declare.",
        why="The host refuses the call: each attempt of the job fails.",
        bad=_USES.replace("CAPABILITIES", ""),
        good=_USES.replace("CAPABILITIES", _DECLARED),
        source="spec/nextskin.md D2; spec/sdk.md NextSkin",
        check=_undeclared,
    ),
    Rule(
        code="NSP502",
        name="capability-unused",
        severity="warning",
        summary="A declared capability is used by no handler.",
        why="Who installs the plugin is asked to grant more than it needs.",
        bad=_LOGS.replace("CAPABILITIES", _DECLARED),
        good=_LOGS.replace("CAPABILITIES", ""),
        source="spec/nextskin.md D2; spec/sdk.md NextSkin",
        check=_unused,
    ),
)
