"""Answers what providers stand behind: records, schema, messages, people, processes and agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from nsplugin.runtime.arguments import Arguments
from nsplugin.runtime.enqueueing import INVALID, Order
from nsplugin.runtime.faults import Fault
from nsplugin.runtime.providers import Access, Completed

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
    return data.create(access, object, arguments.mapping("values"))


def _update(data: Any, access: Access, object: str, arguments: Arguments) -> Any:
    return data.update(access, object, arguments.text("id", _NAME), arguments.mapping("values"))


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


def _starting(kind: Literal["process", "agent"], provider: str, callback: str, names: tuple[str, str]) -> Action:
    """Start an execution whose end is a run of one of the plugin's jobs (spec/cogover.md X8)."""

    def action(desk: Desk, visit: Visit, arguments: Arguments) -> Any:
        key, job = arguments.text("key", _NAME), arguments.optional_text(callback, _NAME)
        if job is not None and job not in desk.grants.jobs:
            raise Fault(INVALID, f"{arguments.method}: no job {job!r} is declared", job=job)
        started: dict[str, Any] = {}
        completed = None if job is None else _completion(desk, visit, kind, names, key, job, started)
        plugged = desk.services.providers.plugged(provider)
        started["id"] = plugged.start(_plain_access(visit), key, arguments.values.get("input"), completed)
        for ending in started.pop("ended", ()):  # it ended before its id was known
            assert completed is not None
            completed(*ending)
        return started["id"]

    return action


def _completion(
    desk: Desk, visit: Visit, kind: str, names: tuple[str, str], key: str, job: str, started: dict[str, Any]
) -> Completed:
    def completed(status: Literal["completed", "failed"], output: Any) -> None:
        if "id" not in started:
            started.setdefault("ended", []).append((status, output))
            return
        id = started["id"]
        payload = {names[0]: id, names[1]: key, "status": status, "output": output}
        order = Order(
            job=job,
            payload=json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")),
            due_at=desk.services.now(),
            key=None,
        )
        desk.services.queue.enqueue(order, visit.facts, f"{kind}:{id}")

    return completed


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
    "processes.start": _starting("process", "processes", "on_complete", ("instanceId", "process")),
    "agents.start": _starting("agent", "agents", "on_result", ("runId", "agent")),
}
