"""Payload models: a type an author declares a payload with, its JSON Schema, and payloads validated by it.

pydantic is imported when a model is used, and not before.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nsplugin.handlers import is_a, type_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

_OLD_TYPED_DICT = "before Python 3.12, write `from typing_extensions import TypedDict` in place of the one in typing"
_LISTED = 5
"""How many faults of a payload a message names."""


class ModelError(ValueError):
    """No JSON Schema can be made of what was given as a payload model."""


class PayloadMismatch(ValueError):
    """A payload does not fit the job's model.

    The message names the model's fields; values, and keys that the model leaves open (``*``), are not told. What a validator
    of the author's own says is told as it is.
    """


class PayloadModel:
    """A payload model ready for use. Raises :class:`ModelError` when pydantic can make nothing of ``model``."""

    __slots__ = ("_adapter", "model", "schema")
    schema: dict[str, Any]
    """The JSON Schema (draft 2020-12) of the payloads it takes; refers only inside itself."""

    def __init__(self, model: Any) -> None:
        self.model = model
        try:
            self._adapter = _adapter(model)
            self.schema = _schema(self._adapter)
        except Exception as error:
            reason = _OLD_TYPED_DICT if _is_old_typed_dict(model) else _first_sentence(error)
            raise ModelError(f"no JSON Schema can be made of {_name(model)}: {reason}") from error

    def validated(self, payload: Any) -> Any:
        """The payload, plain JSON data, as the model's own type. Raises :class:`PayloadMismatch`."""
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(json.dumps(payload))
        except ValidationError as error:
            raise PayloadMismatch(_mismatch(error, payload, frozenset(_properties(self.schema)))) from None


def _is_old_typed_dict(model: Any) -> bool:
    return sys.version_info < (3, 12) and type(model).__name__ == "_TypedDictMeta" and type(model).__module__ == "typing"


def is_model(value: Any) -> bool:
    """Whether a value given as ``payload`` is a type, and not a JSON Schema or other data."""
    kind = type(value)
    return is_a(value, type) or type.__dict__["__module__"].__get__(kind) in ("typing", "types", "typing_extensions")


def is_instance(value: Any) -> bool:
    """Whether a value is an instance of a pydantic model or a dataclass, where the class itself was meant."""
    bases = type.__dict__["__mro__"].__get__(type(value))
    return any(
        {"__pydantic_fields__", "__dataclass_fields__"} & type.__dict__["__dict__"].__get__(each).keys() for each in bases
    )


def _adapter(model: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(model)


def _schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    from pydantic.json_schema import GenerateJsonSchema

    class Quiet(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    schema: dict[str, Any] = adapter.json_schema(schema_generator=Quiet)
    return schema


def _name(model: Any) -> str:
    return f"class {model.__name__}" if isinstance(model, type) else f"an instance of {type_name(model)}"


def _first_sentence(error: Exception) -> str:
    """What pydantic says, without its advice on how to switch the check off; classes go by their names."""
    lines = re.sub(r"<class '(?:[^']*\.)?([^'.]+)'>", r"class \1", str(error)).strip().splitlines()
    return lines[0].partition(". ")[0] if lines else type(error).__name__


def _mismatch(error: ValidationError, payload: Any, known: Collection[str]) -> str:
    faults = error.errors(include_url=False, include_input=False)
    listed = "; ".join(f"{_place(fault, payload, known) or 'payload'}: {_reason(fault)}" for fault in faults[:_LISTED])
    more = f"; and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
    return f"the payload does not fit the job's model: {listed}{more}"


def _place(fault: Mapping[str, Any], payload: Any, known: Collection[str]) -> str:
    """Where a fault lies. A key of the payload that is no field is data; of one that was refused the author wants the name."""
    shown: list[str] = []
    for part in fault["loc"]:
        inside = isinstance(payload, dict) and part in payload
        shown.append("*" if inside and part not in known and fault["type"] != "extra_forbidden" else str(part))
        if inside or (isinstance(payload, list) and isinstance(part, int) and part < len(payload)):
            payload = payload[part]
    return ".".join(shown)


def _reason(fault: Mapping[str, Any]) -> str:
    """What pydantic says, in other words where it quotes the value."""
    if fault["type"] == "union_tag_invalid":
        return f"{fault['ctx']['discriminator'].strip(chr(39))} should be one of {fault['ctx']['expected_tags']}"
    if fault["type"] == "uuid_parsing":
        return "Input should be a valid UUID"
    return str(fault["msg"])


def _properties(schema: Any) -> Iterator[str]:
    """The names of all fields that a schema speaks of."""
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            properties = part.get("properties")
            yield from properties if isinstance(properties, dict) else ()
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
