"""Answers what providers stand behind: records, schema, messages, people, processes and agents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, Literal

from nsplugin.platforms import Platform
from nsplugin.runtime.arguments import Arguments
from nsplugin.runtime.enqueueing import INVALID, Order, payload_text
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.providers import Access

if TYPE_CHECKING:
    from nsplugin.runtime.desk import Desk, Visit

Action = Callable[["Desk", "Visit", Arguments], Any]
_NAME: Final = 256
_TEXT: Final = 100_000
_MAX_FIELDS: Final = 500
_MAX_RECORDS: Final = 200
_MAX_RECIPIENTS: Final = 100


def _access(desk: Desk, visit: Visit, mode: object = "invocation") -> Access:
    """Whose rights a call has (spec/cogover.md X1). Raises :class:`Fault` where the identity policy grants none."""
    user = visit.facts.user
    wants_system = mode == "system" or (mode != "user" and user is None)
    if wants_system and not desk.grants.allow_internal_system:
        text = "the run has no user and" if user is None else "it asks for the system's rights, but"
        raise _not_granted(f"{text} the project's identity policy does not set allowInternalSystem")
    if mode == "user" and user is None:
        raise _not_granted("the run has no user, so data.as_user() has nobody's rights")
    steps = visit.facts.automation_steps
    return Access(plugin=visit.facts.plugin, user=None if wants_system else user, automation_steps=steps, run=visit.facts.id)


def _not_granted(text: str) -> Fault:
    return Fault("PERMISSION_DENIED", f"data: {text}", reason="IDENTITY_NOT_GRANTED")


def _plain_access(visit: Visit) -> Access:
    facts = visit.facts
    return Access(plugin=facts.plugin, user=facts.user, automation_steps=facts.automation_steps, run=facts.id)


def _on_data(answer: Callable[[Any, Access, str, Arguments], Any]) -> Action:
    def action(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
        access = _access(desk, visit, arguments.values.get("mode"))
        return answer(desk.services.providers.plugged("data"), access, arguments.text("object", _NAME), arguments)

    return action


def _list(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.list(
        access,
        object,
        where=arguments.optional_mapping("where"),
        fields=arguments.optional_texts("fields", _MAX_FIELDS),
        order_by=arguments.optional_text("order_by", _NAME),
        limit=arguments.integer("limit", 1, _MAX_RECORDS),
        cursor=arguments.optional_text("cursor", _NAME),
    )


def _get(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.get(access, object, arguments.text("id", _NAME), fields=arguments.optional_texts("fields", _MAX_FIELDS))


def _create(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.create(access, object, arguments.mapping("fields"))


def _update(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.update(access, object, arguments.text("id", _NAME), arguments.mapping("fields"))


def _delete(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.delete(access, object, arguments.text("id", _NAME))


def _aggregate(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    group_by = arguments.texts("group_by", 10)
    if group_by and access.user is not None:
        text = "data: grouping needs the system's rights: data.as_system().object(…).records.aggregate(…)"
        raise Fault("PERMISSION_DENIED", text, reason="GROUPING_NOT_GRANTED")
    measures, where = arguments.mapping("measures"), arguments.optional_mapping("where")
    return data.aggregate(access, object, measures=measures, where=where, group_by=group_by)


def _objects(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    return desk.services.providers.plugged("schema").objects(_plain_access(visit))


def _object(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    return desk.services.providers.plugged("schema").object(_plain_access(visit), arguments.text("name", _NAME))


def _notify(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    desk.services.providers.plugged("notifications").send(
        _plain_access(visit),
        to=arguments.texts("to", _MAX_RECIPIENTS),
        title=arguments.text("title", _NAME),
        body=arguments.text("body", _TEXT, least=0),
        link=arguments.optional_text("link", 2_000),
    )


def _email(desk: Desk, visit: Visit, arguments: Arguments) -> None:
    text, html = arguments.optional_text("text", _TEXT), arguments.optional_text("html", _TEXT)
    if text is None and html is None:
        raise Fault(INVALID, "email.send: give a text, an html body, or both")
    desk.services.providers.plugged("email").send(
        _plain_access(visit),
        to=arguments.texts("to", _MAX_RECIPIENTS),
        subject=arguments.text("subject", 1_000),
        text=text,
        html=html,
    )


def _user(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    return desk.services.providers.plugged("org").user(_plain_access(visit), arguments.text("id", _NAME))


def _users(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
    return desk.services.providers.plugged("org").users(_plain_access(visit), arguments.integer("limit", 1, 1_000))


class Waiting:
    """The end of an execution, which may come in another thread and before the execution's id is known."""

    def __init__(self, told: Callable[[str, str, Any], None]) -> None:
        self.early: list[tuple[str, Any]] = []
        self._told, self._id, self._lock = told, "", threading.Lock()

    def completed(self, status: Literal["completed", "failed"], output: Any) -> None:
        """The execution has ended."""
        with self._lock:
            if not self._id:
                self.early.append((status, output))
                return
        self._told(self._id, status, output)

    def begun(self, id: str) -> None:
        """The execution has this id."""
        with self._lock:
            self._id = id
        for ending in self.early:
            self._told(id, *ending)


def _starting(kind: str, provider: str, callback: str, id_name: str) -> Action:
    """Start an execution whose end is a run of one of the plugin's jobs (spec/cogover.md X8)."""

    def action(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
        key, job = arguments.text("key", _NAME), arguments.optional_text(callback, _NAME)
        if job is not None and job not in desk.grants.jobs:
            raise Fault(INVALID, f"{arguments.method}: no job {job!r} is declared", job=job)

        def told(id: str, status: str, output: Any) -> None:
            text = _payload(desk.platform, {id_name: id, kind: key, "status": status, "output": output})
            order = Order(job=str(job), payload=text, due_at=desk.services.now(), key=None)
            desk.services.queue.enqueue(order, visit.facts, f"{kind}:{id}")

        waiting = Waiting(told)
        completed = None if job is None else waiting.completed
        plugged = desk.services.providers.plugged(provider)
        started = plugged.start(_plain_access(visit), key, arguments.values.get("input"), completed)
        _begin(waiting, started)
        return started

    return action


def _begin(waiting: Waiting, started: Any) -> None:
    """Note the execution's id, now or when the provider's future brings it."""

    def noted(done: Future[str]) -> None:
        if not done.cancelled() and done.exception() is None:
            waiting.begun(done.result())

    if isinstance(started, Future):
        started.add_done_callback(noted)
    else:
        waiting.begun(started)


def _payload(platform: Platform, payload: dict[str, Any]) -> str | None:
    """An end within the bounds of all payloads (spec/cogover.md E3); one that is outside is told as a failure."""
    try:
        return payload_text(platform, payload)
    except Fault as fault:
        reason = fault.message.removeprefix(f"{platform.enqueue.method}: ")
        return payload_text(platform, {**payload, "status": "failed", "output": f"the output can't be a payload: {reason}"})


METHODS: Final[Mapping[str, Action]] = {
    "data.list": _on_data(_list),
    "data.get": _on_data(_get),
    "data.create": _on_data(_create),
    "data.update": _on_data(_update),
    "data.delete": _on_data(_delete),
    "data.aggregate": _on_data(_aggregate),
    "schema.objects": _objects,
    "schema.object": _object,
    "notifications.send": _notify,
    "email.send": _email,
    "org.user": _user,
    "org.users": _users,
    "processes.start": _starting("process", "processes", "on_complete", "instanceId"),
    "agents.start": _starting("agent", "agents", "on_result", "runId"),
}
