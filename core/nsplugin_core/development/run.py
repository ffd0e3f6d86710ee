"""Runs ``dev``: from the first build over every change to Ctrl-C."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from nsplugin.manifest import Manifest
from nsplugin.runtime.providers import Providers
from nsplugin.runtime.standins import local_providers
from nsplugin_core.admin.access import access_to
from nsplugin_core.admin.app import create_app
from nsplugin_core.admin.guard import HOME
from nsplugin_core.admin.hosts import notice_of
from nsplugin_core.admin.serving import AdminServer
from nsplugin_core.development.changes import changes
from nsplugin_core.development.lock import locked
from nsplugin_core.development.routes import PluginRoutes
from nsplugin_core.journal import Form, Journal
from nsplugin_core.registry import OtherPlatform, Registry
from nsplugin_core.service import Service, ServiceSettings
from nsplugin_core.serving import signals

DATABASE: Final = "core.db"
GRACE_S: Final = 5.0
"""How long running attempts may go on after Ctrl-C; then they are given back. A second Ctrl-C does not wait."""
_logger: Final = logging.getLogger("nsplugin.dev")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyPlugin:
    """A plugin that was built: its manifest, and the folder that its entry is found in."""

    manifest: Manifest
    folder: Path


Build = Callable[[], Sequence[ReadyPlugin] | None]
"""Builds the plugins anew; ``None`` when one has errors, which it has shown by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """What to develop and how. ``folders`` are watched; ``state`` holds the database; ``port`` 0 is any free one.

    ``user`` stands in for whoever calls a route with ``auth = "user"``. ``timezone`` is the site's. ``internal_system``: the
    project's identity policy (spec/cogover.md X1), ``None`` for as it was.
    """

    folders: tuple[Path, ...]
    state: Path
    timezone: str
    port: int
    user: str = "dev"
    providers: Providers = field(default_factory=local_providers)
    internal_system: bool | None = None
    reset: bool = False
    form: Form = "console"
    level: str = "debug"


def develop(asked: Development, build: Build) -> int:
    """Run until Ctrl-C. Raises ``FolderTaken``, ``AccessRefused`` (the port), ``StoreError`` and ``OSError``."""
    with signals() as (stop, hurry), ExitStack() as stack:
        stack.enter_context(locked(asked.state))
        if asked.reset:
            _reset(asked.state)
        journal = Journal(asked.form, asked.level)
        for quiet in ("nsplugin.core", "watchfiles"):
            logging.getLogger(quiet).setLevel(logging.WARNING)
        settings = ServiceSettings(providers=asked.providers)
        service = Service(f"sqlite:///{asked.state / DATABASE}", settings=settings, observe=journal.observe, sink=journal.take)
        stack.callback(_stop, service, hurry)
        site = _Site(asked, service)
        stack.callback(site.server.stop)
        site.run(build, stop)
    return 0


def _reset(state: Path) -> None:
    for file in state.glob(f"{DATABASE}*"):
        file.unlink()


def _stop(service: Service, hurry: threading.Event) -> None:
    ran, running = service.state == "running", service.dispatcher.in_flight
    if ran and running:
        _logger.info("stopping; %d attempts have %g s to finish, Ctrl-C again gives them back at once", running, GRACE_S)
    given_back = service.stop(GRACE_S, hurry)
    if ran:
        _logger.info("stopped%s; queued tasks are kept", f"; {given_back} attempts were given back" if given_back else "")


class _Site:
    """A service with its pages, and the plugins that are in it now."""

    def __init__(self, asked: Development, service: Service) -> None:
        self._asked, self._service = asked, service
        self._registry = Registry(store=service.store, clock=service.clock)
        self._shown: dict[str, ReadyPlugin] = {}
        self._put_aside: set[str] = set()
        self._told: set[str] = set()
        access = access_to(f"127.0.0.1:{asked.port}")
        self._routes = PluginRoutes(hosts=service.hosts, access=access, user=asked.user, home=HOME)
        pages = create_app(service.operations, access, notice=notice_of(service.hosts.status))
        self.server = AdminServer(_both(pages, self._routes), access)

    def run(self, build: Build, stop: threading.Event) -> None:
        """Build, serve, and build again after each change, until ``stop``."""
        looks = changes(self._asked.folders, stop)
        next(looks, None)  # watches from here on, so that no change is missed while the first build runs
        self._take(build(), first=True)
        self._service.start()
        self.server.start()
        self._greet()
        for changed in looks:
            if changed and not stop.is_set():
                built = build()
                if not stop.is_set():
                    self._take(built)

    def _take(self, built: Sequence[ReadyPlugin] | None, *, first: bool = False) -> None:
        if built is None:
            again = "" if first or not self._shown else "; the version before goes on meanwhile"
            _logger.error("the plugin has errors: waiting for a change%s", again)
            return
        new = {plugin.manifest.id: plugin for plugin in built}
        for plugin_id in [record.id for record in self._service.store.registry.plugins() if record.id not in new]:
            self._put_away(plugin_id)
        for plugin in built:
            self._install(plugin)
        self._shown = new
        self._service.roster.run_once(self._service.clock.now_ms())
        self._show([plugin.manifest for plugin in built])
        for plugin_id in new:
            self._service.hosts.wake(plugin_id)
            if not first:
                _logger.info("plugin %s was loaded anew; its queue is kept", plugin_id)

    def _install(self, plugin: ReadyPlugin) -> None:
        """The queue, the place of unchanged schedules and whether it is enabled stay as they are (spec/core.md K3)."""
        manifest = plugin.manifest
        try:
            after = self._registry.install(
                manifest,
                timezone=self._asked.timezone,
                folder=str(plugin.folder),
                internal_system=self._asked.internal_system,
            )
        except OtherPlatform as error:
            _logger.error("%s (or begin anew: nsplugin dev --reset)", error)
            return
        if manifest.id in self._put_aside:
            self._put_aside.discard(manifest.id)
            after = self._registry.enable(manifest.id)
        elif not after.plugin.enabled:
            _logger.warning("plugin %s is disabled; enable it on the administration page", manifest.id)

    def _put_away(self, plugin: str) -> None:
        """A plugin that is not here any more (its id was changed) keeps its tasks, but nothing of it runs."""
        installed = self._service.store.registry.installed(plugin)
        if installed is not None and installed.plugin.enabled:
            self._registry.disable(plugin)
            self._put_aside.add(plugin)
            _logger.warning("plugin %s is not here any more; it is disabled, its tasks are kept", plugin)

    def _show(self, manifests: Sequence[Manifest]) -> None:
        """Serve the routes, and tell of those that are new."""
        self._routes.show(manifests)
        root = self.server.url.removesuffix(HOME)
        routes = [f"{route.method} {root}{route.path}" for manifest in manifests for route in manifest.routes]
        for route in routes:
            if route not in self._told:
                _logger.info("route %s", route)
        self._told = set(routes)

    def _greet(self) -> None:
        _logger.info("administration page: %s", self.server.url)
        _logger.info(
            "schedules in %s; requests come from the development user %r; Ctrl-C stops", self._asked.timezone, self._asked.user
        )


def _both(pages: ASGIApp, routes: PluginRoutes) -> ASGIApp:
    """The administration page below its own path, plugins' routes everywhere else."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        below = scope["type"] != "http" or scope["path"] == "/admin" or scope["path"].startswith("/admin/")
        await (pages if below else routes)(scope, receive, send)

    return app
