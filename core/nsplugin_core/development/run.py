"""Runs ``dev``: from the first build over every change to Ctrl-C."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from starlette.types import ASGIApp

from nsplugin.manifest import Manifest
from nsplugin.runtime.providers import Providers
from nsplugin.runtime.standins import local_providers
from nsplugin_core.admin.access import Access, AccessRefused, access_to
from nsplugin_core.admin.app import create_app
from nsplugin_core.admin.hosts import notice_of
from nsplugin_core.admin.serving import AdminServer, WebServer
from nsplugin_core.development.changes import changes
from nsplugin_core.development.lock import locked
from nsplugin_core.development.routes import PluginRoutes
from nsplugin_core.journal import Form, Journal
from nsplugin_core.registry import OtherPlatform, Registry
from nsplugin_core.service import Service, ServiceSettings
from nsplugin_core.serving import signals
from nsplugin_core.store.errors import StoreUnavailable

DATABASE: Final = "core.db"
PUT_ASIDE: Final = f"{DATABASE}.put-aside"
"""Beside the database, and reset with it: the ids of plugins that were disabled here, as their files were not there."""
LOOK_S: Final = 0.05
GRACE_S: Final = 5.0
"""How long running attempts may go on after Ctrl-C; then they are given back. A second Ctrl-C does not wait."""
_HELD: Final = "the plugin as it was saved last has errors, and a host would load it"
"""A new host can only load what lies there: the version before lives as long as its host does."""
_logger: Final = logging.getLogger("nsplugin.dev")
ServerT = TypeVar("ServerT", bound=WebServer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyPlugin:
    """A plugin that was built: its manifest, and the folder that its entry is found in."""

    manifest: Manifest
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Plugins that were built, and the site's time zone."""

    plugins: Sequence[ReadyPlugin]
    timezone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Plugins that have errors; ``report`` is the text that was shown of them."""

    report: str


Build = Callable[[], Ready | Broken]
"""Builds the plugins anew, and shows what is wrong with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """What to develop and how. ``folders`` are watched; ``state`` holds the database.

    ``port`` is that of the routes, ``admin_port`` that of the administration page; 0 is any free one. ``user`` stands in for
    whoever calls a route with ``auth = "user"``. ``internal_system``: the project's identity policy (spec/cogover.md X1),
    ``None`` for as it was.
    """

    folders: tuple[Path, ...]
    state: Path
    port: int
    admin_port: int
    user: str = "dev"
    providers: Providers = field(default_factory=local_providers)
    internal_system: bool | None = None
    reset: bool = False
    form: Form = "console"
    level: str = "debug"


def develop(asked: Development, build: Build) -> int:
    """Run until Ctrl-C. Raises ``FolderTaken``, ``AccessRefused`` (a port), ``StoreError`` and ``OSError``."""
    with signals() as (stop, hurry), ExitStack() as stack:
        stack.enter_context(locked(asked.state))
        if asked.reset:
            _reset(asked.state)
        journal = Journal(asked.form, asked.level)
        stack.callback(journal.close)
        for quiet in ("nsplugin.core", "watchfiles"):
            logging.getLogger(quiet).setLevel(logging.WARNING)
        settings = ServiceSettings(providers=asked.providers)
        service = Service(f"sqlite:///{asked.state / DATABASE}", settings=settings, observe=journal.observe, sink=journal.take)
        stack.callback(_stop, service, hurry)
        _Site(asked, service, stack).run(build, stop)
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

    def __init__(self, asked: Development, service: Service, stack: ExitStack) -> None:
        """Routes and the page are of two origins: what a route sends to a browser can't use the page (docs/decisions/0012)."""
        self._asked, self._service = asked, service
        self._registry = Registry(store=service.store, clock=service.clock)
        self._shown: dict[str, ReadyPlugin] = {}
        self._aside = asked.state / PUT_ASIDE
        self._told: set[str] = set()
        self._timezone = ""
        access, admin = (access_to(f"127.0.0.1:{port}") for port in (asked.port, asked.admin_port))
        self._routes = PluginRoutes(hosts=service.hosts, access=access, user=asked.user)
        self._server = _listening(WebServer, "--port", self._routes, access, stack)
        pages = create_app(service.operations, admin, notice=notice_of(service.hosts.status))
        self._pages = _listening(AdminServer, "--admin-port", pages, admin, stack)
        self._routes.home = self._pages.url

    def run(self, build: Build, stop: threading.Event) -> None:
        """Build, serve, and build again after each change, until ``stop``."""
        looks = changes(self._asked.folders, stop)
        next(looks, None)  # watches from here on, so that no change is missed while the first build runs
        built = _built(build, stop)
        if built is None:
            return
        self._take(built, first=True)
        self._service.start()
        self._server.start()
        self._pages.start()
        self._greet()
        built = None
        for changed in looks:
            built = (_built(build, stop) if changed else None) or built
            if built is not None and self._took(built):
                built = None

    def _took(self, built: Ready | Broken) -> bool:
        """Whether it could be; the next look tries again where the database was away."""
        try:
            self._take(built)
        except StoreUnavailable as error:
            _logger.warning("%s; the plugins are loaded as soon as it is back", error)
            return False
        return True

    def _take(self, built: Ready | Broken, *, first: bool = False) -> None:
        if isinstance(built, Broken):
            again = "; the version before goes on meanwhile" if self._shown else ""
            self._routes.broken = built.report
            self._service.hosts.hold(_HELD)
            _logger.error("the plugin has errors: waiting for a change%s", again)
            return
        new = {plugin.manifest.id: plugin for plugin in built.plugins}
        for plugin_id in [record.id for record in self._service.store.registry.plugins() if record.id not in new]:
            self._put_away(plugin_id)
        for plugin in built.plugins:
            self._install(plugin, built.timezone)
        self._shown = new
        self._service.roster.run_once(self._service.clock.now_ms())
        self._service.hosts.hold("")  # not before the hosts know the new version
        self._show([plugin.manifest for plugin in built.plugins], built.timezone)
        for plugin_id in new:
            self._service.hosts.wake(plugin_id)
            if not first:
                _logger.info("plugin %s was loaded anew; its queue is kept", plugin_id)

    def _install(self, plugin: ReadyPlugin, timezone: str) -> None:
        """The queue, the place of unchanged schedules and whether it is enabled stay as they are (spec/core.md K3)."""
        manifest = plugin.manifest
        try:
            after = self._registry.install(
                manifest,
                timezone=timezone,
                folder=str(plugin.folder),
                internal_system=self._asked.internal_system,
            )
        except OtherPlatform as error:
            _logger.error("%s (or begin anew: nsplugin dev --reset)", error)
            return
        if manifest.id in (aside := self._put_aside()):
            self._registry.enable(manifest.id)
            self._note_aside(aside - {manifest.id})
        elif not after.plugin.enabled:
            _logger.warning("plugin %s is disabled; enable it on the administration page", manifest.id)

    def _put_away(self, plugin: str) -> None:
        """A plugin that is not here any more (its id was changed) keeps its tasks, but nothing of it runs."""
        installed = self._service.store.registry.installed(plugin)
        if installed is not None and installed.plugin.enabled:
            self._note_aside(self._put_aside() | {plugin})
            self._registry.disable(plugin)
            _logger.warning("plugin %s is not here any more; it is disabled, its tasks are kept", plugin)

    def _put_aside(self) -> set[str]:
        return set(self._aside.read_text("utf-8").split()) if self._aside.exists() else set()

    def _note_aside(self, plugins: set[str]) -> None:
        self._aside.write_text("\n".join(sorted(plugins)), "utf-8")

    def _show(self, manifests: Sequence[Manifest], timezone: str) -> None:
        """Serve the routes, and tell of what is new."""
        self._routes.show(manifests)
        routes = [f"{method} {self._server.root}{path}" for method, path in self._routes.named()]
        for route in routes:
            if route not in self._told:
                _logger.info("route %s", route)
        self._told = set(routes)
        if timezone != self._timezone:
            _logger.info("schedules in %s", timezone)
        self._timezone = timezone

    def _greet(self) -> None:
        _logger.info("routes: %s/", self._server.root)
        _logger.info("administration page: %s", self._pages.url)
        _logger.info("requests come from the development user %r; Ctrl-C stops", self._asked.user)


def _built(build: Build, stop: threading.Event) -> Ready | Broken | None:
    """What was built, or ``None`` after Ctrl-C: that does not wait for an import that hangs, which ends with this process."""
    built: Future[Ready | Broken] = Future()

    def work() -> None:
        try:
            built.set_result(build())
        except BaseException as error:
            built.set_exception(error)

    threading.Thread(target=work, name="nsplugin-build", daemon=True).start()
    while not stop.is_set():
        if wait([built], LOOK_S).done:
            return built.result()
    return None


def _listening(kind: type[ServerT], option: str, app: ASGIApp, access: Access, stack: ExitStack) -> ServerT:
    try:
        server = kind(app, access)
    except AccessRefused as error:
        raise AccessRefused(f"{option}: {error}") from error
    stack.callback(server.stop)
    return server
