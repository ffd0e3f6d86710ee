"""``serve``: a service in the foreground, until a signal ends it."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Final

from nsplugin_core.journal import Form, Journal
from nsplugin_core.monitoring import Monitor, health, numbers
from nsplugin_core.service import GRACE_S, Service, ServiceSettings

if TYPE_CHECKING:
    from nsplugin_core.admin.access import Access
    from nsplugin_core.admin.serving import AdminServer

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STOPPED_HARD: Final = 130
_logger: Final = logging.getLogger("nsplugin.core")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What to serve and how. ``monitor``: where metrics and health are shown, ``admin``: where and to whom the administration
    page is; ``None``: nowhere.
    """

    database: str
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    grace_s: float = GRACE_S
    monitor: tuple[str, int] | None = None
    admin: Access | None = None
    form: Form = "json"
    level: str = "info"


def serve(asked: Serving) -> int:
    """Run until SIGTERM, SIGINT or SIGHUP; returns the exit code.

    The first signal ends it gracefully, the second at once, a third without even writing down what was given back.
    Raises ``StoreError`` when the database can't be opened, ``AddressRefused`` when the monitor's address can't be had, and
    ``AccessRefused`` when the administration page's can't.
    """
    journal = Journal(asked.form, asked.level)
    with signals() as (stop, hurry), ExitStack() as stack:
        stack.callback(journal.close)
        service = Service(asked.database, settings=asked.settings, observe=journal.observe, sink=journal.take)
        try:
            if asked.monitor is not None:
                stack.callback(_shown(service, asked.monitor).close)
            if asked.admin is not None:
                stack.callback(_administered(service, asked.admin).stop)
            service.start()
            _logger.info("serving with %d workers for each plugin", asked.settings.workers)
            stop.wait()
        finally:
            _stop(service, asked.grace_s, hurry)
    return 0


def _shown(service: Service, address: tuple[str, int]) -> Monitor:
    monitor = monitored(service, address)
    host, port = monitor.address
    _logger.info("metrics and health at http://%s:%d", f"[{host}]" if ":" in host else host, port)
    return monitor


def _administered(service: Service, access: Access) -> AdminServer:
    from nsplugin_core.admin.app import create_app
    from nsplugin_core.admin.hosts import notice_of
    from nsplugin_core.admin.serving import AdminServer

    server = AdminServer(create_app(service.operations, access, notice=notice_of(service.hosts.status)), access)
    server.start()
    _logger.info("administration page at %s", server.url)
    return server


def monitored(service: Service, address: tuple[str, int]) -> Monitor:
    """Metrics and health of a service, at an address."""
    answers = {
        "/metrics": numbers(service.metrics.text),
        "/live": health(service.live),
        "/ready": health(service.ready),
    }
    return Monitor(address, answers)


def _stop(service: Service, grace_s: float, hurry: threading.Event) -> None:
    if service.state == "running":
        _logger.info("stopping; %d attempts run, and have %g s to finish", service.dispatcher.in_flight, grace_s)
    given_back = service.stop(grace_s, hurry)
    _logger.info("stopped; %d attempts were given back", given_back)


@contextmanager
def signals() -> Iterator[tuple[threading.Event, threading.Event]]:
    """Two events: set by the first signal, and by the second.

    The interpreter writes each signal to a pipe, whichever thread the kernel gave it to, and a thread reads that. Python's
    own handlers would not do: they run in the main thread only, which sleeps on when another thread got the signal.
    """
    stop, hurry = threading.Event(), threading.Event()
    heard, told = os.pipe()
    os.set_blocking(told, False)
    previous = {number: signal.signal(number, _noted) for number in _caught()}
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(heard, stop, hurry), name="nsplugin-signals", daemon=True)
    watcher.start()
    try:
        yield stop, hurry
    finally:
        signal.set_wakeup_fd(before)
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(told)
        watcher.join()
        os.close(heard)


def _caught() -> list[signal.Signals]:
    """``nohup`` has SIGHUP ignored, and means it."""
    return [each for each in SIGNALS if each is not signal.SIGHUP or signal.getsignal(each) is not signal.SIG_IGN]


def _noted(number: int, frame: FrameType | None) -> None:
    """A handler, so that the signal does not end the process."""


def _watch(pipe: int, stop: threading.Event, hurry: threading.Event) -> None:
    for event in (stop, hurry):
        if not os.read(pipe, 1):
            return
        event.set()
    if os.read(pipe, 1):
        os._exit(STOPPED_HARD)
