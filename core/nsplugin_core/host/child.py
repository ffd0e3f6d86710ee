"""The process of a host: the only code that imports a plugin."""

from __future__ import annotations

import asyncio
import importlib
import io
import os
import random
import selectors
import sys
import threading
import traceback
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, NoReturn

from nsplugin.definition.assembly import Assembled, assemble
from nsplugin.errors import listing
from nsplugin.platforms import Platform, load
from nsplugin.runtime.bound import BoundHandler, bind_job, bind_route
from nsplugin_core.host.inside.isolation import limit
from nsplugin_core.host.inside.output import Prints, Records
from nsplugin_core.host.inside.runner import Runner
from nsplugin_core.host.inside.wire import Wire, give_up, leave
from nsplugin_core.host.protocol import VERSION, Message

SEED: Final = "NSPLUGIN_RANDOM_SEED"


class LoadError(Exception):
    """The plugin can't be run; the message is for whoever installed it."""


def main(outside: int) -> NoReturn:
    """Be a host: say hello, load the plugin, run what the core sends until it says stop or is gone.

    ``outside`` is this process's number as the core sees it, 0 when it has no namespace of its own.
    """
    wire = _take_pipes()
    wire.send({"t": "pid", "pid": outside})
    (hello,) = wire.receive()
    if not outside:
        del hello["limits"]["processes"]  # counted over all that the user runs
    records = Records(wire, hello["log_rate"])
    prints = _capture(records)
    selector = selectors.DefaultSelector()
    loop = asyncio.SelectorEventLoop(selector)
    asyncio.set_event_loop(loop)
    _guard_forks(wire, selector)
    reader: Future[Runner] = Future()
    threading.Thread(target=_read_forever, args=(wire, reader), name="nsplugin-reader", daemon=True).start()
    reader.set_result(_loaded(hello, wire, loop, records, prints))
    wire.attach(loop)
    _run(loop, os.getpid())


def _seed() -> None:
    """In a simulation chance is part of the scenario: the same seed gives the same handlers' choices."""
    seed = os.environ.get(SEED)
    if seed is not None:
        random.seed(seed)


def _read_forever(wire: Wire, runner: Future[Runner]) -> None:
    """Reads from the start, so that a host ends with the core while it is still loading. Ends the host when it can't go on."""
    try:
        while True:
            messages = wire.receive()
            runner.result().take(messages)
    except BaseException:
        give_up()


def _take_pipes() -> Wire:
    """Move the pipes out of the plugin's way: nothing to read on 0, and 1 and 2 lead to the log (spec/core.md H1)."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return Wire(read_fd, write_fd)


def _capture(records: Records) -> tuple[Prints, ...]:
    out, err = Prints(records, "stdout", "info", 1), Prints(records, "stderr", "warning", 2)
    sys.stdout, sys.stderr = out, err
    return out, err


def _guard_forks(wire: Wire, selector: selectors.BaseSelector) -> None:
    """A forked process has neither the host's pipes nor its loop: it can't answer for the host."""

    def forget() -> None:
        wire.forget()
        selector.close()
        sys.stdout, sys.stderr = _raw_text(1), _raw_text(2)

    os.register_at_fork(after_in_child=forget)


def _raw_text(fd: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), encoding="utf-8", errors="replace", line_buffering=True)


def _loaded(
    hello: Message, wire: Wire, loop: asyncio.AbstractEventLoop, records: Records, prints: tuple[Prints, ...]
) -> Runner:
    """Load the plugin and say ready, or say why not and end."""
    try:
        if hello["protocol"] != VERSION:
            raise LoadError(f"the core speaks protocol {hello['protocol']}, this host speaks {VERSION}: install one version")
        limit(hello["limits"])
        platform = load(hello["platform"])
        assembled = _assembled(hello, platform)
        jobs, routes = _bound(assembled, platform)
    except BaseException as error:
        _fail(wire, error)
    wire.send({"t": "ready", "protocol": VERSION, "jobs": sorted(jobs), "routes": sorted(routes)})
    return Runner(
        platform=platform, hello=hello, jobs=jobs, routes=routes, wire=wire, loop=loop, records=records, prints=prints
    )


def _assembled(hello: Message, platform: Platform) -> Assembled:
    sys.path.insert(0, hello["directory"])
    module_name, _, attribute = hello["entry"].partition(":")
    _seed()
    module = importlib.import_module(module_name)
    value = getattr(module, attribute or platform.layout.attribute, None)
    if value is None:
        raise LoadError(
            f"{Path(module.__file__ or module_name).name} has no {attribute!r}, which entry {hello['entry']!r} names"
        )
    assembled = assemble(value, platform, hello["project"])
    errors = tuple(problem for problem in assembled.problems if problem.severity == "error")
    if errors:
        raise LoadError(listing(errors, hello["entry"]))
    return assembled


def _bound(assembled: Assembled, platform: Platform) -> tuple[Mapping[str, BoundHandler], Mapping[str, BoundHandler]]:
    models = assembled.payload_models
    jobs = {name: bind_job(call, platform.handlers, models.get(name)) for name, call in assembled.call.items()}
    return jobs, {key: bind_route(call, platform.handlers) for key, call in assembled.routes.items()}


def _fail(wire: Wire, error: BaseException) -> NoReturn:
    reason = str(error) if isinstance(error, LoadError) else f"{type(error).__name__}: {_text(error)}"
    trace = "" if isinstance(error, LoadError) else "".join(traceback.format_exception(error))
    wire.send({"t": "failed", "protocol": VERSION, "error": reason[:4_000], "trace": trace[-8_000:]})
    leave(1)


def _text(error: Any) -> str:
    try:
        return str(error)
    except Exception:
        return "no message"


def _run(loop: asyncio.AbstractEventLoop, host: int) -> NoReturn:
    """Run the loop; what a plugin's own tasks raise to stop it (``SystemExit``, an interrupt) does not end the host."""
    while os.getpid() == host:
        try:
            loop.run_forever()
        except BaseException as error:
            if os.getpid() == host:
                traceback.print_exception(error)
    leave(1)
