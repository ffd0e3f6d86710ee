"""The forms that do something: each ends with a redirect to a page that says what was done."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from nsplugin_core.admin.forms import Form
from nsplugin_core.admin.guard import HOME, form_of, visitor_of
from nsplugin_core.admin.pages import about, address, plugin_path
from nsplugin_core.admin.rendering import Renderer
from nsplugin_core.admin.wording import counted
from nsplugin_core.operations import Deleted, NotFound, Operations, Retried
from nsplugin_core.views import Counts, PluginView

_logger: Final = logging.getLogger("nsplugin.admin")
LISTED: Final = 10
"""So many tasks are named before they are deleted; of the others the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """What an operator does to a core."""

    operations: Operations
    renderer: Renderer

    def enable(self, request: Request) -> Response:
        """Enable a plugin."""
        plugin = _plugin(request)
        changed = self.operations.enable(plugin)
        return self._switched(request, plugin, "enabled", changed, "Its waiting tasks start when they are due.")

    def disable(self, request: Request) -> Response:
        """Disable a plugin."""
        plugin = _plugin(request)
        changed = self.operations.disable(plugin)
        return self._switched(request, plugin, "disabled", changed, "Its tasks are kept; none starts until it is enabled.")

    def _switched(self, request: Request, plugin: str, word: str, changed: bool, effect: str) -> Response:
        target = plugin_path(plugin)
        if not changed:
            return self.renderer.done(request, target, f"{plugin} was {word} already.")
        _note(request, f"{word} {plugin}")
        return self.renderer.done(request, target, f"{plugin} is {word}. {effect}")

    def uninstall(self, request: Request) -> Response:
        """Uninstall a plugin whose id was typed."""
        plugin = _plugin(request)
        self.operations.plugin(plugin)
        typed = form_of(request).one("typed").strip()
        if typed != plugin:
            text = f"Nothing was removed: what was typed is not the plugin's id, {plugin}."
            return self.renderer.failed(request, f"{plugin_path(plugin)}/uninstall", text)
        counts = self.operations.uninstall(plugin)
        _note(request, f"uninstalled {plugin}")
        return self.renderer.done(request, HOME, f"{plugin} is uninstalled, and {counted(_total(counts), 'task')} with it.")

    def retry(self, request: Request) -> Response:
        """Queue the selected dead letters again, or the one whose button was pressed."""
        view, form = self._asked(request)
        ids = _chosen(form)
        if not ids:
            return self._nothing_chosen(request, view)
        result = self.operations.retry(ids, plugin=view.id)
        return self._retried(request, view, result)

    def retry_all(self, request: Request) -> Response:
        """Queue all dead letters again, of a job or of the plugin, once that is confirmed."""
        view, form = self._asked(request)
        if not form.one("confirmed"):
            return self._confirm(request, view, "retry-all", [])
        return self._retried(request, view, self.operations.retry_all(view.id, job=form.one("job") or None))

    def delete(self, request: Request) -> Response:
        """Delete the selected dead letters, or the one whose button was pressed, once that is confirmed."""
        view, form = self._asked(request)
        ids = _chosen(form)
        if not ids:
            return self._nothing_chosen(request, view)
        if not form.one("confirmed"):
            return self._confirm(request, view, "delete", ids)
        return self._deleted(request, view, self.operations.delete(ids, plugin=view.id))

    def delete_all(self, request: Request) -> Response:
        """Delete all dead letters, of a job or of the plugin, once that is confirmed."""
        view, form = self._asked(request)
        if not form.one("confirmed"):
            return self._confirm(request, view, "delete-all", [])
        return self._deleted(request, view, self.operations.delete_all(view.id, job=form.one("job") or None))

    def _asked(self, request: Request) -> tuple[PluginView, Form]:
        return self.operations.plugin(_plugin(request)), form_of(request)

    def _confirm(self, request: Request, view: PluginView, action: str, ids: Sequence[str]) -> Response:
        job = form_of(request).one("job")
        counts = next((each.counts for each in self.operations.jobs(view.id) if each.name == job), view.counts)
        count = len(ids) or counts.dead
        if not count:
            return self._nothing_there(request, view)
        named = [self._named(view.id, task_id) for task_id in ids[:LISTED]]
        values = {"action": action, "ids": ids, "named": named, "job": job, "count": count, "back": _back(view, request)}
        return self.renderer.page(request, "confirm.html", about(view) | values)

    def _named(self, plugin: str, task_id: str) -> dict[str, Any]:
        try:
            return {"id": task_id, "task": self.operations.task(task_id, plugin=plugin).task}
        except NotFound:
            return {"id": task_id, "task": None}

    def _nothing_chosen(self, request: Request, view: PluginView) -> Response:
        letter = about(view)["letter"]
        return self.renderer.failed(
            request, _back(view, request), f"Nothing was selected: tick the {letter}s that you mean first."
        )

    def _nothing_there(self, request: Request, view: PluginView) -> Response:
        return self.renderer.done(request, _back(view, request), f"There are no {about(view)['letter']}s any more.")

    def _retried(self, request: Request, view: PluginView, result: Retried) -> Response:
        _note(request, f"retried {len(result.queued)} of {view.id}")
        text = _retried_text(result, about(view)["letter"])
        alone = form_of(request).one("one") if form_of(request).one("from") == "task" else ""
        target = f"{plugin_path(view.id)}/tasks/{alone}" if alone in result.queued else _back(view, request)
        return self.renderer.done(request, target, text)

    def _deleted(self, request: Request, view: PluginView, result: Deleted) -> Response:
        _note(request, f"deleted {len(result.deleted)} of {view.id}")
        text = f"{_some(len(result.deleted), about(view)['letter'])} deleted.{_missing(len(result.missing))}"
        return self.renderer.done(request, _back(view, request), text)


def _plugin(request: Request) -> str:
    return str(request.path_params["plugin"])


def _chosen(form: Form) -> list[str]:
    """The one whose own button was pressed, else those that are ticked."""
    one = form.one("one")
    return [one] if one else form.every("task")


def _back(view: PluginView, request: Request) -> str:
    job = form_of(request).one("job")
    return address(plugin_path(view.id), {"job": job} if job else {})


def _note(request: Request, what: str) -> None:
    _logger.info("%s %s", visitor_of(request).user, what)


def _total(counts: Counts) -> int:
    return counts.queued + counts.running + counts.succeeded + counts.dead


def _some(count: int, letter: str) -> str:
    return f"{counted(count, letter)} {'was' if count == 1 else 'were'}"


def _retried_text(result: Retried, letter: str) -> str:
    parts = [f"{_some(len(result.queued), letter)} queued again."] if result.queued or not result.dropped else []
    if result.dropped:
        parts.append(f"{_some(len(result.dropped), letter)} dropped, because an unfinished task has the same key.")
    return " ".join(parts) + _missing(len(result.missing))


def _missing(count: int) -> str:
    if not count:
        return ""
    return f" {count} {'was' if count == 1 else 'were'} not there any more: retried or deleted meanwhile."
