"""What an author passed to a definer, as a raw manifest: copied, without code, with its handlers beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from nsplugin.definition.arguments import CONFIG, Bound, Signature
from nsplugin.definition.call_site import CallSite
from nsplugin.definition.parts import Cron, Job, Part, Route, Schedule
from nsplugin.definition.signatures import PLACES
from nsplugin.detach import MAX_VALUES, TooLarge, Unreadable, detach, entries
from nsplugin.findings import moved, problem
from nsplugin.handler_objects import describe
from nsplugin.handlers import MISSING, Handler, is_a, type_name
from nsplugin.payload_model import ModelError, PayloadModel, is_instance, is_model
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin.record import field, record
from nsplugin.spans import Target

if TYPE_CHECKING:
    from nsplugin.rules import Problem

MAX_ENTRIES: Final = 40_000
"""How many jobs, schedules or routes are looked at: more than a normalised manifest of 1 MiB can hold."""

Reader = Callable[[Any, str], Any]


@record(kw_only=False, frozen=False)
class Intake:
    """Reads an author's values and gathers, by pointer, what a raw manifest cannot hold.

    ``callables`` holds the handlers themselves, ``handlers`` what is known of them, ``models`` the payload models, ``sites``
    the calls that made a part, ``problems`` what no rule over the raw manifest can see.
    """

    platform: Platform
    callables: dict[str, Any] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    models: dict[str, PayloadModel] = field(default_factory=dict)
    sites: dict[str, CallSite] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def value(self, value: Any, pointer: str) -> Any:
        """A detached copy, or ``UNKNOWN`` for what is too large to be looked at (which is reported)."""
        try:
            return detach(value)
        except TooLarge:
            self._fault("NSP302", pointer, f"this holds more than {MAX_VALUES:,} values, more than any manifest can")
            return UNKNOWN

    def mapping(self, value: Any, pointer: str, read: Reader) -> Any:
        """A mapping whose values are read by ``read(value, pointer)``; anything else is copied as it is."""
        found = self._entries(value, pointer)
        if found is None:
            return self.value(value, pointer)
        return {key: read(item, join(pointer, key)) for key, item in found.items()}

    def sequence(self, value: Any, pointer: str, read: Reader) -> Any:
        """A list or tuple whose items are read by ``read(value, pointer)``; anything else is copied as it is."""
        if not is_a(value, list) and not is_a(value, tuple):
            return self.value(value, pointer)
        items = list(list.__iter__(value) if is_a(value, list) else tuple.__iter__(value))
        if len(items) > MAX_ENTRIES:
            self._too_many(pointer)
            return UNKNOWN
        return [read(item, join(pointer, index)) for index, item in enumerate(items)]

    def options(self, value: Any, pointer: str, part: type[Part], readers: Mapping[str, Reader]) -> Any:
        """A part, or the mapping in its place: each option is read by its own reader, else copied."""
        if is_a(value, Part):
            return self._options_of(value, pointer, part, readers)
        found = self._entries(value, pointer)
        return self.value(value, pointer) if found is None else self.read(found, pointer, readers)

    def arguments(self, signature: Signature, bound: Bound, pointer: str, place: str) -> dict[str, Any]:
        """The arguments of a call by the manifest's keys; a keyword that resembles none stays, for the rules to judge."""
        self.problems += moved(bound.problems, pointer)
        options = dict(bound.given)
        for name, value in bound.unknown.items():
            meant = signature.nearest(name, self.platform.key_synonyms.get(place, {}))
            if meant is not None:
                message = f"{signature.name} has no parameter `{name}`"
                self._fault("NSP006", join(pointer, name), message, f"did you mean `{meant.name}`?", "key")
            options.setdefault(name if meant is None else meant.key, value)
        return options

    def call(self, signature: Signature, bound: Bound, pointer: str, place: str) -> dict[Any, Any]:
        """The arguments of a definer, those of its one mapping and those given by name together.

        What stands in the mapping's place and is none may have meant any option: the result then holds ``UNKNOWN``.
        """
        options = self.arguments(signature, bound, pointer, place)
        if CONFIG.key not in options:
            return options
        config = options.pop(CONFIG.key)
        found = self._entries(config, pointer)
        if found is None:
            message = f"{signature.name} takes a mapping or keyword arguments, not {describe(config).described}"
            self._fault("NSP007", pointer, message, signature.example)
            return {**options, UNKNOWN: UNKNOWN}
        for key in found.keys() & options.keys():
            self._fault("NSP006", join(pointer, key), f"`{key}` is given in the mapping and by name", "give it once")
        return {**found, **options}

    def job(self, value: Any, pointer: str) -> Any:
        """The options of a job; its handler and payload model are kept beside the raw manifest."""
        return self._handled(value, pointer, Job, {"payloadSchema": self.payload_schema})

    def route(self, value: Any, pointer: str) -> Any:
        """The options of a route; its handler is kept beside the raw manifest."""
        return self._handled(value, pointer, Route, {})

    def cron(self, value: Any, pointer: str) -> Any:
        """The options of an entry of ``cron``."""
        return self.options(value, pointer, Cron, {})

    def schedule(self, value: Any, pointer: str) -> Any:
        """The options of a schedule that stands in its job."""
        return self.options(value, pointer, Schedule, {})

    def handler(self, value: Any, pointer: str) -> None:
        """Keep a handler beside the raw manifest, under the pointer of its job or route."""
        self.handlers[pointer] = MISSING if value is MISSING else describe(value)
        if value is not MISSING:
            self.callables[pointer] = value

    def payload_schema(self, value: Any, pointer: str) -> Any:
        """A JSON Schema as it is, or the one of a payload model."""
        if is_instance(value):
            name = type_name(value)
            message = f"a payload model is a class, not an instance of {name}"
            self._fault("NSP007", pointer, message, f"give the class itself: payload={name}")
            return UNKNOWN
        if not is_model(value):
            return self.value(value, pointer)
        try:
            model = PayloadModel(value)
        except ModelError as error:
            hint = "give a pydantic model, a dataclass, a TypedDict or a JSON Schema"
            self._fault("NSP303", pointer, str(error), hint)
            return UNKNOWN
        self.models[pointer.rpartition("/")[0]] = model
        return self.value(model.schema, pointer)

    def _options_of(self, given: Part, pointer: str, part: type[Part], readers: Mapping[str, Reader]) -> Any:
        if not is_a(given, part):
            self._misplaced(f"a {type_name(given)}", pointer, part)
            return UNKNOWN
        if given.site is not None:
            self.sites[pointer] = given.site
        signature = part.SIGNATURE
        return self.read(self.arguments(signature, given.bound, pointer, PLACES[signature.name]), pointer, readers)

    def read(self, options: dict[Any, Any], pointer: str, readers: Mapping[str, Reader]) -> dict[Any, Any]:
        """Each option read by its own reader, else copied."""
        return {key: readers.get(key, self.value)(item, join(pointer, key)) for key, item in options.items()}

    def _handled(self, value: Any, pointer: str, part: type[Part], readers: Mapping[str, Reader]) -> Any:
        known = describe(value)
        if known.callable:
            self._misplaced(known.described, pointer, part)
            return UNKNOWN
        raw = self.options(value, pointer, part, {**readers, "handler": _kept})
        if isinstance(raw, dict) and ("handler" in raw or UNKNOWN not in raw):
            self.handler(raw.pop("handler", MISSING), pointer)
        return raw

    def _misplaced(self, what: str, pointer: str, part: type[Part]) -> None:
        self._fault("NSP007", pointer, f"{what} cannot stand here", f"write {part.__name__}(…)")

    def _entries(self, value: Any, pointer: str) -> dict[Any, Any] | None:
        """The entries of a mapping, ``None`` for what is none; those of one that cannot be read are unknown."""
        found = entries(value, MAX_ENTRIES)
        if found is None:
            return None
        if isinstance(found, Unreadable):
            self._fault("NSP007", pointer, f"this {type_name(value)} cannot be read: {found.reason}", "give a plain dict")
        elif len(found) > MAX_ENTRIES:
            self._too_many(pointer)
        else:
            return dict(self._named(found, pointer))
        return {UNKNOWN: UNKNOWN}

    def _named(self, found: list[tuple[Any, Any]], pointer: str) -> list[tuple[str, Any]]:
        for key, _ in found:
            if not is_a(key, str):
                shown = describe(key).described
                self._fault("NSP007", pointer, f"the key {shown} is not a string", "keys are strings: put it in quotes")
        return [(str.__str__(key), item) for key, item in found if is_a(key, str)]

    def _too_many(self, pointer: str) -> None:
        message = f"more than {MAX_ENTRIES:,} entries, and no manifest of 1 MiB holds so many"
        self._fault("NSP007", pointer, message, "split the plugin")

    def _fault(self, code: str, pointer: str, message: str, hint: str | None = None, target: Target = "value") -> None:
        self.problems.append(problem(code, pointer, message, hint, target))


def _kept(value: Any, pointer: str) -> Any:
    return value
