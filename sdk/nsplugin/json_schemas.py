"""The published JSON Schemas (draft 2020-12), made from the models. ``make update`` writes them into ``schemas/``."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from nsplugin.document_models import ProjectFile, Report
from nsplugin.manifest_models import CogoverManifest, NextSkinManifest

MODELS: Final[dict[str, type[BaseModel]]] = {
    "nextskin-manifest": NextSkinManifest,
    "cogover-manifest": CogoverManifest,
    "report": Report,
    "config": ProjectFile,
}


class _Plain(GenerateJsonSchema):
    """Keys in the order of the models, and no title that only repeats a key."""

    def sort(self, value: Any, parent_key: str | None = None) -> Any:
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of that name. Raises ``KeyError`` for a name that is not in :data:`MODELS`."""
    made = MODELS[name].model_json_schema(schema_generator=_Plain)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Generated from the models by make update; not edited by hand.",
        "title": made.pop("title"),
        "description": made.pop("description"),
        "type": made.pop("type"),
    }
    definitions = made.pop("$defs", {})
    return {**head, **made, **({"$defs": definitions} if definitions else {})}


def rendered(name: str) -> bytes:
    """The text of the schema file: two-space indent, UTF-8, one line feed at the end."""
    return (json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n").encode()
