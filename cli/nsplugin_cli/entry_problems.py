"""From how importing an entry went to the findings NSP002-005, at the author's own lines."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Sequence
from typing import Any

from nsplugin.rules._family import Found, Problem
from nsplugin.rules.identity import problem as finding
from nsplugin.spans import Span
from nsplugin_cli import sources
from nsplugin_cli.missing_definition import FIRST_LINE, not_defined
from nsplugin_cli.source.discover import Target
from nsplugin_cli.source.load import MAX_REPORT, Outcome

MAX_MESSAGE = 300
NAMED_CALLS = 5


def problem(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem] | None:
    """The finding that says why there is no definition, and the file it stands in; ``None`` when there is one."""
    explain = _EXPLAIN.get(outcome.kind)
    return explain and explain(outcome, target, seconds)


def _raised(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem]:
    detail = outcome.detail
    missing = detail["missing"]
    if target.file is None and missing and (target.module == missing or target.module.startswith(missing + ".")):
        return _not_found(target)
    path, span = _raised_at(detail, target)
    text = _short(detail["message"])
    message = f"{detail['exception']}: {text}" if text else f"the entry raised {detail['exception']}"
    hint = _install(missing, target) if missing else _instead(text) or _calls(detail["frames"], target)
    return path, finding("NSP003", Found(pointer="", message=message, hint=hint, span=span))


def _not_found(target: Target) -> tuple[str, Problem]:
    hint = f"modules are looked for in the folder {os.path.basename(target.project.folder)} and among the installed packages"
    found = Found(pointer="", message=f'there is no module "{target.module}"', hint=hint, span=_entry_span(target))
    return target.place, finding("NSP002", found)


def _entry_span(target: Target) -> Span | None:
    """Where the project file names the entry, when the finding stands in that file."""
    return target.project.spans.get("entry") if target.file is None else None


def _raised_at(detail: Any, target: Target) -> tuple[str, Span | None]:
    syntax = detail["syntax"]
    if syntax and _own([syntax], target):
        return syntax[0], sources.span_of_syntax(syntax[0], syntax[1:])
    return _deepest(detail["frames"], target)


def _instead(message: str) -> str | None:
    """What to import in place of a name that the SDK does not have."""
    found = re.match(r"cannot import name '(\w+)' from '(nsplugin(?:\.cogover)?)'", message)
    if found is None:
        return None
    from importlib import import_module

    from nsplugin.nearest import closest

    name, asked = found[1], found[2]
    own, other = (import_module(module).__all__ for module in (asked, _OTHER[asked]))
    if name in other:
        return f"`{name}` is one of {_OTHER[asked]}, of the other platform: {asked} has {', '.join(_ways(own))}"
    meant = closest(name, own)
    return f"did you mean `{meant}`?" if meant else f"{asked} has {', '.join(_ways(own))} and more"


_OTHER = {"nsplugin": "nsplugin.cogover", "nsplugin.cogover": "nsplugin"}


def _ways(names: Iterable[str]) -> list[str]:
    """The names that definitions are made with."""
    return [name for name in names if name in ("define_plugin", "define_job", "Job", "Cron", "Route", "Schedule")]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _install(module: str, target: Target) -> str:
    package, folder = module.partition(".")[0], os.path.basename(target.project.folder)
    return f'install "{package}" where nsplugin is installed, or put it into the folder {folder}'


def _own(frames: Iterable[Sequence[Any]], target: Target) -> list[Sequence[Any]]:
    folder = target.project.folder + os.sep
    return [frame for frame in frames if frame[0].startswith(folder) and "site-packages" not in frame[0]]


def _deepest(frames: Iterable[Sequence[Any]], target: Target) -> tuple[str, Span | None]:
    own = _own(frames, target)
    if not own:
        return target.place, FIRST_LINE if target.file else None
    path: str = own[-1][0]
    return path, sources.span_of_frame(path, own[-1][1:])


def _calls(frames: Iterable[Sequence[Any]], target: Target) -> str | None:
    outer = _own(frames, target)[:-1][-NAMED_CALLS:]
    places = [f"{os.path.relpath(frame[0], target.project.folder)}:{frame[1]}" for frame in reversed(outer)]
    return f"called from {', '.join(places)}" if places else None


def _died(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem]:
    path, span = _running(outcome, target)
    hint = "importing the entry must define the plugin and return: leave the rest to jobs and routes"
    if outcome.detail["overflown"]:
        message = f"describing what the entry defines takes more than {MAX_REPORT >> 20} MiB, the most that is read"
        return path, finding("NSP003", Found(pointer="", message=message, hint="define less, and shorter texts", span=span))
    return path, finding("NSP003", Found(pointer="", message=_end(outcome.detail["code"]), hint=hint, span=span))


def _end(code: int) -> str:
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"importing the entry ended its process by {name}"
    return f"importing the entry ended its process with exit code {code}, and nothing could be read from it"


def _timed_out(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem]:
    path, span = _running(outcome, target)
    message = f"importing the entry took longer than {seconds:g} s"
    hint = "this is where it was: move the work into a job, or raise the limit with --timeout" if outcome.stack else None
    return path, finding("NSP005", Found(pointer="", message=message, hint=hint, span=span))


def _running(outcome: Outcome, target: Target) -> tuple[str, Span | None]:
    return _deepest([(file, line, None, None, None) for file, line in reversed(outcome.stack)], target)


def _shadowed(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem]:
    message = f'Python finds another module under the name "{target.module}": {outcome.detail["by"]}'
    found = Found(pointer="", message=message, hint="rename the entry's file", span=FIRST_LINE)
    return target.place, finding("NSP002", found)


def _absent(outcome: Outcome, target: Target, seconds: float) -> tuple[str, Problem]:
    wanted = outcome.detail["wanted"]
    for name, call in outcome.detail["elsewhere"]:
        path, span = _deepest([call] if call else [], target)
        if call is None and target.file is not None:
            span = sources.span_of_assignment(target.file, [name], None) or span
        return path, not_defined(target.module, wanted, name, span)
    return target.place, not_defined(target.module, wanted, None, FIRST_LINE if target.file else _entry_span(target))


_EXPLAIN = {"raised": _raised, "died": _died, "timed-out": _timed_out, "shadowed": _shadowed, "absent": _absent}
