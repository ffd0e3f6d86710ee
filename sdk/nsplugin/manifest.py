"""The frozen manifest: normalised, in one key order, with canonical bytes and digest (spec/manifest.md M1-M4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Final

from nsplugin.canonical import digest, pretty
from nsplugin.cron import normalise, zone
from nsplugin.errors import DefinitionError
from nsplugin.frozen import FrozenDict, freeze, thaw
from nsplugin.json_schema.mismatch import has_unknown
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import record
from nsplugin.rules.subject import ABSENT, Subject
from nsplugin.rules.verdict import check
from nsplugin.structure import MANIFEST_VERSION
from nsplugin.wording import Origin, plain
from nsplugin_schemas import load as load_schema

__all__ = ["MANIFEST_VERSION", "JobSpec", "Manifest", "RouteSpec", "ScheduleSpec", "normalised"]


@record
class JobSpec:
    """A job: its name, its name for people if it has one, its limits, and its payload schema (a JSON Schema) if it has one."""

    name: str
    title: str | None
    max_attempts: int
    timeout_ms: int
    payload_schema: Any


@record
class ScheduleSpec:
    """A schedule: where it stands, its normalised expression, the job and payload that it starts.

    ``index`` counts the schedules; ``timezone`` is ``None`` where the site's counts.
    """

    index: int
    pointer: str
    expression: str
    job: str
    payload: Any
    timezone: str | None


@record
class RouteSpec:
    """A route: method, path, and who may call it."""

    method: str
    path: str
    auth: str


@record
class Manifest:
    """A valid manifest: normalised, deeply frozen, detached, hashable, picklable.

    ``value`` is the manifest as JSON, in the key order of its file. Made by :meth:`of`.
    """

    value: FrozenDict
    platform: Platform

    @classmethod
    def of(cls, raw: Mapping[str, Any], platform: Platform, *, origin: Origin = "json") -> Manifest:
        """The manifest that a raw one stands for.

        Raises :class:`DefinitionError` with every problem when a rule finds an error, and ``ValueError`` when a part of it is
        ``UNKNOWN``. ``origin``: as for :class:`~nsplugin.rules.Subject`.
        """
        problems = check(Subject(raw=raw, platform=platform, origin=origin))
        if any(problem.severity == "error" for problem in problems):
            raise DefinitionError(problems, "the manifest")
        return cls(value=freeze(normalised(raw, platform)), platform=platform)

    @property
    def id(self) -> str:
        """The plugin's id."""
        return str(self.value["id"])

    @property
    def version(self) -> str | None:
        """The plugin's own version, if it has one."""
        return self.value.get("version")

    @property
    def entry(self) -> str:
        """The module and attribute that hold the definition: ``"plugin:plugin"``."""
        return str(self.value["entry"])

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the plugin may use."""
        return tuple(self.value.get("capabilities", ()))

    @cached_property
    def jobs(self) -> tuple[JobSpec, ...]:
        """The jobs, in the manifest's order."""
        titled = self.platform.display_name is not None
        return tuple(
            JobSpec(
                name=job.name,
                title=job.raw.get("name") if titled else None,
                max_attempts=job.raw["maxAttempts"],
                timeout_ms=job.raw["timeoutMs"],
                payload_schema=job.raw.get("payloadSchema"),
            )
            for job in self._subject.jobs
        )

    @cached_property
    def schedules(self) -> tuple[ScheduleSpec, ...]:
        """The schedules, in the manifest's order."""
        return tuple(
            ScheduleSpec(
                index=index,
                pointer=schedule.pointer,
                expression=schedule.expression,
                job=schedule.job,
                payload=freeze(self.platform.payload.absent_value) if schedule.payload is ABSENT else schedule.payload,
                timezone=None if schedule.timezone is ABSENT else schedule.timezone,
            )
            for index, schedule in enumerate(self._subject.schedules)
        )

    @cached_property
    def routes(self) -> tuple[RouteSpec, ...]:
        """The routes, in the manifest's order."""
        routes = [(*key.split(" ", 1), route["auth"]) for key, route in self.value.get("routes", {}).items()]
        return tuple(RouteSpec(method=method, path=path, auth=auth) for method, path, auth in routes)

    @cached_property
    def digest(self) -> str:
        """``sha256:`` and the hash of the RFC 8785 form (M4)."""
        return digest(self.value)

    def to_bytes(self) -> bytes:
        """The manifest file (M3)."""
        return pretty(self.value)

    @property
    def _subject(self) -> Subject:
        return Subject(raw=self.value, platform=self.platform)


def normalised(raw: Mapping[str, Any], platform: Platform) -> dict[str, Any]:
    """The normalised form (M1) of a manifest in which the rules find no error: a new value, in the file's key order.

    Every default is filled in, white space in cron expressions is reduced, time zones take their stored form. Raises
    ``ValueError`` when a part is ``UNKNOWN``.
    """
    value: dict[str, Any] = _Filling(f"{platform.name}-manifest").value(_schema(f"{platform.name}-manifest"), raw, "")
    for schedule, key in _SCHEDULES[platform.layout.schedules](value):
        schedule[key] = normalise(schedule[key])
        if "timezone" in schedule:
            schedule["timezone"] = zone(schedule["timezone"], offsets=platform.cron.fixed_offsets).name
    return value


def _listed(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    return ((entry, "schedule") for entry in value.get("cron", ()))


def _in_jobs(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    return ((job["schedule"], "cron") for job in value["jobs"] if "schedule" in job)


_SCHEDULES: Final = {"list": _listed, "in-job": _in_jobs}


@cache
def _schema(name: str) -> Mapping[str, Any]:
    return load_schema(name)


class _Filling:
    """Copies a value in the shape of a published schema: its key order, its defaults."""

    def __init__(self, name: str) -> None:
        self.definitions: Mapping[str, Any] = _schema(name).get("$defs", {})

    def value(self, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
        if value is UNKNOWN:
            raise ValueError(f"{pointer or 'the manifest'} is not known without running the plugin")
        if "$ref" in schema:
            schema = self.definitions[schema["$ref"].rpartition("/")[2]]
        return _COPIES.get(schema.get("type", ""), _as_it_is)(self, schema, value, pointer)

    def fields(self, schema: Mapping[str, Any], value: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        if "properties" not in schema:
            inner = schema["additionalProperties"]
            return {plain(key): self.value(inner, item, join(pointer, key)) for key, item in value.items()}
        return dict(self._known(schema["properties"], value, pointer))

    def _known(self, properties: Mapping[str, Any], value: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Any]]:
        for key, schema in properties.items():
            if key in value:
                yield key, self.value(schema, value[key], join(pointer, key))
            elif "default" in schema:
                yield key, thaw(schema["default"])

    def items(self, schema: Mapping[str, Any], value: Any, pointer: str) -> list[Any]:
        return [self.value(schema["items"], item, join(pointer, index)) for index, item in enumerate(value)]


def _as_it_is(filling: _Filling, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    if has_unknown(value):
        raise ValueError(f"{pointer} is not known without running the plugin")
    return thaw(value)


def _integer(filling: _Filling, schema: Mapping[str, Any], value: Any, pointer: str) -> int:
    return int(value)


def _text(filling: _Filling, schema: Mapping[str, Any], value: str, pointer: str) -> str:
    return plain(value)


_COPIES: Final[dict[str, Callable[[_Filling, Mapping[str, Any], Any, str], Any]]] = {
    "object": _Filling.fields,
    "array": _Filling.items,
    "integer": _integer,
    "string": _text,
}
