"""The hosts of all plugins: what the dispatcher hands attempts to (:class:`nsplugin_core.attempts.HostPool`)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import groupby
from math import inf
from typing import Final

from nsplugin.runtime.providers import Services
from nsplugin_core.attempts import Attempt, Deliver
from nsplugin_core.clock import Clock, SystemClock
from nsplugin_core.host.keeper import HostStatus, Keeper, Surroundings
from nsplugin_core.host.logs import LogSink, to_logging
from nsplugin_core.host.routes import RouteRequest, RouteResponse
from nsplugin_core.host.settings import HostSettings, PluginSource
from nsplugin_core.host.table import HostFailed, refusals

_KILL_S: Final = 5.0
_AGAIN_S: Final = 1.0
_logger: Final = logging.getLogger(__name__)


class Hosts:
    """Child processes that run plugins, one at a time for each plugin.

    ``changed(plugin)`` is called from any thread when a host became ready, exited, or may start again: a dispatcher wakes
    up then. Nothing blocks but ``close``.
    """

    def __init__(
        self,
        services: Services,
        *,
        settings: HostSettings | None = None,
        clock: Clock | None = None,
        sink: LogSink = to_logging,
        changed: Callable[[str], None] = lambda plugin: None,
    ) -> None:
        self._tell = changed
        self._held = ""
        self._shared = Surroundings(
            settings=settings or HostSettings(),
            services=services,
            clock=clock or SystemClock(),
            sink=sink,
            changed=self._changed,
            held=lambda: self._held,
        )
        self._keepers: dict[str, Keeper] = {}
        self._removed: list[Keeper] = []
        self._look = threading.Condition()
        self._look_at = inf
        self._closed = False
        self._watch = threading.Thread(target=self._watch_time, name="hosts-watch", daemon=True)
        self._watch.start()

    def put(self, source: PluginSource) -> None:
        """Run this plugin, or this version of it from now on: attempts that run are finished by the old one."""
        keeper = self._keepers.get(source.id)
        if keeper is None:
            self._keepers[source.id] = Keeper(source, self._shared)
        else:
            keeper.replace(source)
        self._changed(source.id)

    def remove(self, plugin: str) -> None:
        """Run this plugin no more; what runs is finished."""
        keeper = self._keepers.pop(plugin, None)
        if keeper is not None:
            keeper.close()
            self._removed = [each for each in self._removed if not each.join(0)] + [keeper]

    def wake(self, plugin: str) -> None:
        """Start the plugin's host now, so that its first attempt finds it ready."""
        keeper = self._keepers.get(plugin)
        if keeper is not None:
            keeper.wake()

    def hold(self, reason: str) -> None:
        """Start no host until this is called with "": those that run go on, also without work, and what ends has no follower.

        For code that is known to be broken: no attempt is spent on it.
        """
        if reason != self._held:
            self._held = reason
            for plugin in list(self._keepers):
                self._changed(plugin)

    def kill(self, plugin: str) -> None:
        """End the plugin's host now: what runs in it is given back, and another one starts."""
        keeper = self._keepers.get(plugin)
        if keeper is not None:
            keeper.kill()

    def free(self, plugin: str) -> int:
        """How many more attempts of the plugin can start now; 0 while its host is unavailable (spec/nextskin.md X6)."""
        keeper = self._keepers.get(plugin)
        return 0 if keeper is None else keeper.free()

    def start(self, attempts: Sequence[Attempt], deliver: Deliver) -> None:
        """Start attempts. Each is delivered once, whatever happens to its host, unless it is cancelled first."""
        for plugin, group in groupby(attempts, key=lambda attempt: attempt.plugin):
            keeper, several = self._keepers.get(plugin), list(group)
            if keeper is None:
                deliver(refusals(several, f"no code of plugin {plugin!r} is known here"))
            else:
                keeper.start(several, deliver)
                self._look_before(time.monotonic() + min(attempt.timeout_ms for attempt in several) / 1000)

    def cancel(self, task_id: str, claim: int) -> None:
        """The attempt's time is up: abort its signal, and kill its host after a grace if it goes on (spec/core.md H2)."""
        for keeper in (*self._keepers.values(), *self._removed):
            keeper.cancel(task_id, claim)
        self._look_before(time.monotonic())

    def request(self, plugin: str, route: str, request: RouteRequest) -> Future[RouteResponse]:
        """Call a route (``"POST /expire"``) of a plugin; the future raises :class:`HostFailed` when there is no response."""
        answer: Future[RouteResponse] = Future()
        keeper = self._keepers.get(plugin)
        if keeper is None:
            answer.set_exception(HostFailed(f"no code of plugin {plugin!r} is known here", "HOST_UNAVAILABLE"))
        else:
            keeper.request(route, request, answer)
            self._look_before(time.monotonic() + self._shared.settings.route_s)
        return answer

    def status(self, plugin: str) -> HostStatus:
        """How a plugin's host is; "stopped" for a plugin that is not known here."""
        keeper = self._keepers.get(plugin)
        return HostStatus(plugin=plugin, state="stopped") if keeper is None else keeper.status()

    def statuses(self) -> list[HostStatus]:
        """How all hosts are, by plugin."""
        return [keeper.status() for _, keeper in sorted(self._keepers.copy().items())]

    @property
    def watching(self) -> bool:
        """Whether time-outs are enforced: the thread that looks at the time is there."""
        return self._watch.is_alive()

    def close(self, grace_s: float = 0.0) -> None:
        """Take no more attempts, let those that run finish for ``grace_s``, then give them back and end all hosts."""
        keepers = [*self._keepers.values(), *self._removed]
        for keeper in keepers:
            keeper.close()
        end = time.monotonic() + grace_s
        late = [keeper for keeper in keepers if not keeper.join(max(0.0, end - time.monotonic()))]
        for keeper in late:
            keeper.kill()
        for keeper in late:
            keeper.join(_KILL_S)
        with self._look:
            self._closed = True
            self._look.notify()
        self._watch.join(_KILL_S)

    def _changed(self, plugin: str) -> None:
        self._look_before(time.monotonic())
        self._tell(plugin)

    def _look_before(self, moment: float) -> None:
        with self._look:
            if moment < self._look_at:
                self._look_at = moment
                self._look.notify()

    def _watch_time(self) -> None:
        """The one thread that looks at the time for all hosts: time-outs, slow starts, pauses, idleness."""
        while True:
            with self._look:
                now = time.monotonic()
                if not self._closed and self._look_at > now:
                    self._look.wait(None if self._look_at == inf else self._look_at - now)
                if self._closed:
                    return
                if self._look_at > time.monotonic():
                    continue
                self._look_at = inf
            moments = [_ticked(keeper) for keeper in [*self._keepers.values(), *self._removed]]
            self._look_before(min(moments, default=inf))


def _ticked(keeper: Keeper) -> float:
    """What fails for one plugin must not take the time-outs of all others along."""
    now = time.monotonic()
    try:
        return keeper.tick(now)
    except Exception:
        _logger.exception("the core failed over the hosts of %s", keeper.plugin)
        return now + _AGAIN_S
