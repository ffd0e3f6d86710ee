"""The pages that show something. They change nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nsplugin.platforms import Platform, load
from nsplugin_core.admin.guard import HOME
from nsplugin_core.admin.hosts import HostNotice, no_notice
from nsplugin_core.admin.rendering import Renderer
from nsplugin_core.admin.runs import recent_runs
from nsplugin_core.operations import STATES, Operations, TaskQuery, Unacceptable
from nsplugin_core.tasks import State
from nsplugin_core.views import JobView, PluginView, TaskView

PER_PAGE: Final = 50
FIRES: Final = 3
SHOWN: Final[tuple[State, ...]] = ("queued", "running", "succeeded", "dead")
MAX_PLACE: Final = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of tasks of one state. ``first`` is the number of its first in the whole list of ``total``.

    ``here`` is the page's own address, ``next`` that of the page after it.
    """

    tasks: Sequence[TaskView]
    state: State
    job: str
    first: int
    total: int
    here: str
    start: str
    next: str | None

    @property
    def last(self) -> int:
        """The number of the last task on the page."""
        return self.first + len(self.tasks) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What is shown of a core; ``notice`` says what is to be known of a plugin's host."""

    operations: Operations
    renderer: Renderer
    notice: HostNotice = no_notice

    def home(self, request: Request) -> Response:
        """``/admin`` leads to the plugins."""
        return RedirectResponse(HOME, status_code=303)

    def plugins(self, request: Request) -> Response:
        """All plugins."""
        views = self.operations.plugins()
        rows = [(view, load(view.platform).words, self.notice(view.id)) for view in views]
        failed = sum(view.counts.dead for view in views)
        return self.renderer.page(request, "plugins.html", {"rows": rows, "failed": failed})

    def plugin(self, request: Request) -> Response:
        """One plugin: dead letters, jobs, schedules, recent runs."""
        view, jobs = self.operations.overview(_plugin(request))
        platform = load(view.platform)
        keeps = platform.retention.succeeded_days > 0
        values = {
            "states": self._states(view, platform),
            "notice": self.notice(view.id),
            "listing": self._listing(request, view, jobs, "dead", plugin_path(view.id)),
            "schedules": self.operations.schedules(view.id, fires=FIRES),
            "runs": recent_runs(self.operations, view.id, view.words, keeps_succeeded=keeps),
            "keeps_succeeded": keeps,
        }
        return self.renderer.page(request, "plugin.html", about(view) | {"jobs": jobs} | values)

    def tasks(self, request: Request) -> Response:
        """A plugin's tasks in one state."""
        view, jobs = self.operations.overview(_plugin(request))
        state = request.query_params.get("state", "queued")
        if state not in STATES:
            raise Unacceptable(f"there is no state {state!r}; there are {', '.join(STATES)}")
        listing = self._listing(request, view, jobs, state, f"{plugin_path(view.id)}/tasks")
        values = {"jobs": jobs, "listing": listing, "states": self._states(view, load(view.platform))}
        return self.renderer.page(request, "tasks.html", about(view) | values)

    def task(self, request: Request) -> Response:
        """One task; its payload only when that is asked for."""
        view = self.operations.plugin(_plugin(request))
        asked = request.query_params.get("payload") == "shown"
        detail = self.operations.task(request.path_params["task"], plugin=view.id, payload=asked)
        return self.renderer.page(request, "task.html", about(view) | {"detail": detail, "asked": asked})

    def uninstall(self, request: Request) -> Response:
        """What uninstalling removes, and the field for the plugin's id."""
        view = self.operations.plugin(_plugin(request))
        return self.renderer.page(request, "uninstall.html", about(view))

    def _states(self, view: PluginView, platform: Platform) -> list[tuple[State, str, int]]:
        """The states that tasks of this platform can be seen in: those that are dropped when done never are."""
        shown: list[State] = [state for state in SHOWN if state != "succeeded" or platform.retention.succeeded_days > 0]
        return [(state, getattr(view.words, state), getattr(view.counts, state)) for state in shown]

    def _listing(self, request: Request, view: PluginView, jobs: Sequence[JobView], state: State, path: str) -> Listing:
        given = request.query_params
        job, after = given.get("job", ""), given.get("after") or None
        fixed = {key: value for key, value in (("state", given.get("state", "")), ("job", job)) if value}
        page = self.operations.tasks(TaskQuery(states=[state], plugin=view.id, job=job or None, after=after, limit=PER_PAGE))
        counts = next((each.counts for each in jobs if each.name == job), view.counts)
        first = _place(given.get("from", "")) if after else 1
        following = {"after": page.next or "", "from": str(first + PER_PAGE)}
        return Listing(
            tasks=page.items,
            state=state,
            job=job,
            first=first,
            total=getattr(counts, state),
            here=address(path, given),
            start=address(path, fixed),
            next=address(path, fixed | following) if page.next else None,
        )


def plugin_path(plugin: str) -> str:
    """The path of a plugin's page."""
    return f"{HOME}/{quote(plugin, safe='')}"


def about(view: PluginView) -> dict[str, Any]:
    """What every page of one plugin is given."""
    platform = load(view.platform)
    return {
        "plugin": view,
        "path": plugin_path(view.id),
        "words": platform.words,
        "letter": platform.words.dead_letter,
        "dead_days": platform.retention.dead_days,
        "site_zone": view.timezone if platform.cron.time_zone == "site" else "",
    }


def address(path: str, query: Mapping[str, str]) -> str:
    """A path with its query."""
    return f"{path}?{urlencode(query)}" if query else path


def _plugin(request: Request) -> str:
    return str(request.path_params["plugin"])


def _place(text: str) -> int:
    """How far along a list a page is: for reading only, so whatever is no number is the beginning."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PLACE)) and int(text) > 0 else 1
