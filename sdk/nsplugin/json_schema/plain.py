"""Schemas that are sound at a glance, as most are: :mod:`nsplugin.json_schema.check` finds nothing in them."""

from __future__ import annotations

from typing import Any, Final

from nsplugin.json_limits import DEPTH
from nsplugin.json_schema.forms import WANTED
from nsplugin.json_schema.keywords import FORMS, REFUSED

_SPECIAL: Final = REFUSED | {"$ref", "$id", "$schema", "pattern", "patternProperties"}
"""Keywords whose value's form is not all that matters."""


def is_plain(schema: Any) -> bool:
    """Whether a schema is known, all of it, has no special keyword, and is small enough to be neither deep nor endless."""
    schemas = [schema]
    for each in schemas:
        if type(each) is bool:
            continue
        if type(each) is not dict or max(len(each), len(schemas)) > DEPTH or not _SPECIAL.isdisjoint(each):
            return False
        for keyword, value in each.items():
            form = FORMS.get(keyword)
            if form is None:
                continue
            if not WANTED[form][0](value):
                return False
            if form == "schema":
                schemas.append(value)
            elif form == "schema list":
                schemas += value
            elif form == "schemas by name":
                schemas += value.values()
    return True
