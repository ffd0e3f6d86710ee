"""The child process that imports a plugin: runs in an interpreter of its own and reports over a pipe of its own.

Whatever the plugin does to this process, the parent (``load.py``) sees one complete report with the right nonce, or none.
"""

from __future__ import annotations

import builtins
import faulthandler
import fcntl
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from traceback import format_exception
from types import ModuleType, TracebackType
from typing import Any, Final, cast

import nsplugin
import nsplugin_cli
from nsplugin.definition.assembly import Assembled, assemble
from nsplugin.definition.call_site import CallSite
from nsplugin.definition.collect import Collected, collecting
from nsplugin.definition.job import JobDefinition
from nsplugin.definition.plugin import Plugin
from nsplugin.manifest import Manifest
from nsplugin.platforms import Platform, every, load
from nsplugin.rules._family import Problem

HIGH: Final = 180
"""Lowest number for the report's descriptor: out of the way of plugins that close or reuse small numbers."""
LOST: Final = 113
"""Exit code: the plugin closed or replaced the report's descriptor."""
MAX_FRAMES: Final = 40
_REPORTERS: Final = ("json", "nsplugin")
"""The packages whose classes are put back after the import: what judges and reports."""
_OURS: Final = tuple(folder + os.sep for module in (nsplugin, nsplugin_cli) for folder in module.__path__)
MAX_TEXT: Final = 2_000
MAX_NUMBER: Final = 1 << 31
"""No line or column is higher."""
GRACE: Final = 1.0
"""Seconds after the time limit until the guard ends what the parent should have ended."""


def main() -> None:
    """Import, judge, report, and leave without running anything of the plugin's again."""
    request = json.loads(sys.argv[1])
    send = _channel(request["report"], request["nonce"])
    trace = fcntl.fcntl(request["trace"], fcntl.F_DUPFD_CLOEXEC, HIGH)
    for number in (request["report"], request["trace"]):
        os.close(number)
    _start_guard(request["parent"], request["deadline"] + GRACE)
    sys.argv[:] = [request["file"] or request["module"]]
    sys.path.insert(0, request["folder"])
    restore, leave, output, anything = _snapshot(), os._exit, (sys.stdout, sys.stderr), BaseException
    faulthandler.enable(file=trace)
    faulthandler.dump_traceback_later(max(request["alarm"] - time.monotonic(), 0.01), file=trace)
    try:
        outcome = _outcome(request, restore)
    except anything as error:  # the plugin may have deleted the built-in name
        restore()
        outcome = _raised(error)
    for stream in output:
        _flush(stream)
    leave(send(outcome))


def _start_guard(parent: int, deadline: float) -> None:
    """Fork a process that ends this one's group when the parent has gone, however it ended, or the deadline has passed.

    It is no child of this process (the plugin may wait for its own), and shares the group, so that it ends with it.
    """
    middle = os.fork()
    if middle:
        os.waitpid(middle, 0)
        os.close(parent)
        return
    try:
        if os.fork() == 0:
            _guard(parent, deadline)
    finally:
        os._exit(0)


def _guard(parent: int, deadline: float) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(parent, 0)
    os.closerange(1, max(parent + 1, HIGH * 2))
    select.select([0], [], [], max(deadline - time.monotonic(), 0))
    os.killpg(0, signal.SIGKILL)


def _channel(descriptor: int, nonce: str) -> Callable[[dict[str, Any]], int]:
    """A function that writes one report and returns the exit code; only in this process, only if the pipe is still ours."""
    high, owner = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH), os.getpid()
    identity, write, fstat = os.fstat(high), os.write, os.fstat

    def send(outcome: dict[str, Any]) -> int:
        if os.getpid() != owner:
            return 0  # a fork of the plugin's that came back to us
        data = json.dumps(outcome).encode()
        data = f"{nonce} {len(data)}\n".encode() + data
        try:
            if not os.path.samestat(fstat(high), identity):
                return LOST
            while data:
                data = data[write(high, data) :]
        except OSError:
            return LOST
        return 0

    return send


def _snapshot() -> Callable[[], None]:
    """A function that undoes what a plugin replaced in what is loaded now: built-in functions, modules, our classes."""
    modules = dict(sys.modules)
    saved = [(vars(module), dict(vars(module))) for module in modules.values() if isinstance(module, ModuleType)]
    classes = [(item, dict(vars(item))) for namespace, _ in saved for item in namespace.values() if _is_ours(item)]
    mutable = cast("list[list[Any]]", [sys.path, sys.argv, sys.meta_path, sys.path_hooks])
    lists = [(values, values[:]) for values in mutable]
    limit, set_limit, trace, profile = sys.getrecursionlimit(), sys.setrecursionlimit, sys.settrace, sys.setprofile
    update, loaded = dict.update, sys.modules
    saved.sort(key=lambda pair: pair[0] is not vars(builtins))

    def restore() -> None:
        trace(None)
        profile(None)
        set_limit(limit)
        for namespace, before in saved:
            update(namespace, before)
        update(loaded, modules)
        sys.modules = loaded
        for values, kept in lists:
            values[:] = kept
        for owner, attributes in classes:
            _restore_class(owner, attributes)

    return restore


def _is_ours(item: Any) -> bool:
    return isinstance(item, type) and item.__module__.startswith(_REPORTERS)


def _restore_class(owner: type, attributes: dict[str, Any]) -> None:
    now = vars(owner)
    for name in [name for name, value in attributes.items() if now.get(name, owner) is not value]:
        type.__setattr__(owner, name, attributes[name])


def _outcome(request: dict[str, Any], restore: Callable[[], None]) -> dict[str, Any]:
    sys.dont_write_bytecode = True
    with collecting() as collected:
        module = _imported(request["module"], BaseException)
        restore()
        if isinstance(module, BaseException):
            return {**_raised(module), **_calls(collected, None)}
        try:
            return _found(request, module, collected)
        except BaseException as error:
            if not _is_ours_to_mend(error):
                raise
            return {"kind": "failed", "error": "".join(format_exception(error))}


def _found(request: dict[str, Any], module: ModuleType, collected: list[Collected]) -> dict[str, Any]:
    if request["file"] and not _same_file(module, request["file"]):
        return {"kind": "shadowed", "by": str(getattr(module, "__file__", None) or "a built-in module")}
    platforms = [load(request["platform"])] if request["platform"] else every()
    found = _definition(module, platforms, request["attribute"])
    if found is None:
        wanted = [request["attribute"]] if request["attribute"] else [one.layout.attribute for one in platforms]
        return {"kind": "absent", "wanted": wanted, "elsewhere": _elsewhere(module), **_calls(collected, None)}
    attribute, value, platform = found
    entry = f"{request['module']}:{attribute}"
    assembled = assemble(value, platform, {**request["project"], "entry": entry})
    return {"kind": "defined", **_judged(assembled, platform), **_calls(collected, value)}


def _is_ours_to_mend(error: BaseException) -> bool:
    """Whether our own code failed, and not what of the plugin it looked at: an odd ``__getattr__``, a depth without end."""
    if isinstance(error, (RecursionError, MemoryError, KeyboardInterrupt)):
        return False
    deepest: str = [frame[0] for frame in _frames(error.__traceback__)][-1]
    return deepest.startswith(_OURS)


def _imported(name: str, anything: type[BaseException]) -> ModuleType | BaseException:
    """The module, or what its import raised. ``anything``: the built-in class, which the plugin may take out of its place."""
    try:
        return import_module(name)
    except anything as error:
        return error


def _same_file(module: ModuleType, file: str) -> bool:
    origin = getattr(module, "__file__", None)
    return isinstance(origin, str) and Path(origin).exists() and Path(origin).samefile(file)


def _definition(module: ModuleType, platforms: Sequence[Platform], attribute: str | None) -> tuple[str, Any, Platform] | None:
    """The attribute that holds a definition, its value and platform; one of the right name and wrong type if there is none."""
    named = [(attribute or platform.layout.attribute, platform) for platform in platforms]
    present = [(name, getattr(module, name), platform) for name, platform in named if hasattr(module, name)]
    fitting = (one for one in present if isinstance(one[1], _LOOKS[one[2].layout.jobs]))
    return next(fitting, present[0] if present else None)


_LOOKS: Final[dict[str, tuple[type, ...]]] = {"mapping": (Plugin,), "list": (list, tuple)}


def _elsewhere(module: ModuleType) -> list[tuple[str, list[Any] | None]]:
    """The attributes that hold a definition, each with the call that made it."""
    found: list[tuple[str, list[Any] | None]] = []
    for name, value in list(vars(module).items()):
        if isinstance(value, Plugin):
            found.append((name, _site(value.sites[""]) if "" in value.sites else None))
        elif isinstance(value, (list, tuple)) and value and all(isinstance(one, JobDefinition) for one in value):
            found.append((name, None))
    return found


def _judged(assembled: Assembled, platform: Platform) -> dict[str, Any]:
    """The findings, and the manifest when none is an error."""
    judged: dict[str, Any] = {
        "platform": platform.name,
        "problems": [_problem(problem) for problem in assembled.problems],
        "calls": {pointer: _site(site) for pointer, site in assembled.calls.items()},
        "id": assembled.raw.get("id"),
    }
    if any(problem.severity == "error" for problem in assembled.problems):
        return judged
    manifest = Manifest.of(assembled.raw, platform)
    return {
        **judged,
        "version": manifest.version,
        "jobs": len(manifest.jobs),
        "manifest": manifest.to_bytes().decode(),
        "digest": manifest.digest,
    }


def _calls(collected: list[Collected], value: Any) -> dict[str, Any]:
    """The problems of definitions that the chosen one does not hold: each with its own call."""
    held = {id(value), *(map(id, value) if isinstance(value, (list, tuple)) else ())}
    return {
        "others": [
            {"problems": [_problem(problem) for problem in one.problems], "call": one.site and _site(one.site)}
            for one in collected
            if one.problems and id(one.definition) not in held
        ]
    }


def _problem(problem: Problem) -> dict[str, Any]:
    keys = ("code", "name", "severity", "pointer", "message", "hint", "target", "start", "end")
    return {key: getattr(problem, key) for key in keys}


def _site(site: CallSite) -> list[Any]:
    return [site.path, site.line, site.column, site.end_line, site.end_column]


def _raised(error: BaseException) -> dict[str, Any]:
    """``frames``: file, line, column, end line, end column, as ``ast`` counts (bytes from 0); ``syntax``: characters from 1."""
    frames = list(_frames(error.__traceback__))
    return {
        "kind": "raised",
        "exception": type(error).__name__[:MAX_TEXT],
        "message": _text(error),
        "frames": frames[:MAX_FRAMES] + frames[MAX_FRAMES:][-MAX_FRAMES:],
        "syntax": _syntax(error) if isinstance(error, SyntaxError) else None,
        "missing": _missing(error) if isinstance(error, ModuleNotFoundError) else None,
    }


def _syntax(error: SyntaxError) -> list[Any] | None:
    """Anybody may raise one, and put anything into it."""
    places = [_number(each) for each in (error.lineno, error.offset, error.end_lineno, error.end_offset)]
    if not isinstance(error.filename, str) or len(error.filename) > MAX_TEXT or not places[0]:
        return None
    return [error.filename, *places]


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < MAX_NUMBER else None


def _missing(error: ModuleNotFoundError) -> str | None:
    return error.name if isinstance(error.name, str) and len(error.name) <= MAX_TEXT else None


def _text(error: BaseException) -> str:
    try:
        return _said(error)[:MAX_TEXT]
    except BaseException as inner:
        return f"(its text cannot be made: {type(inner).__name__})"


def _said(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg or "")
    if isinstance(error, SystemExit):
        return f"the entry called sys.exit({error.code!r})"
    return str(error)


def _frames(trace: TracebackType | None) -> Iterator[list[Any]]:
    while trace is not None:
        code = trace.tb_frame.f_code
        places = islice(code.co_positions(), trace.tb_lasti // 2, None)
        _, end_line, column, end_column = next(places, (None, None, None, None))
        yield [code.co_filename[:MAX_TEXT], trace.tb_lineno, column, end_line, end_column]
        trace = trace.tb_next


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except BaseException:
        return
