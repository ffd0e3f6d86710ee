"""Posted forms, read within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

MAX_BYTES: Final = 64 << 10
MAX_FIELDS: Final = 1_100
PATIENCE_S: Final = 10.0
KIND: Final = "application/x-www-form-urlencoded"


class BadForm(Exception):
    """What was posted is no form of this page."""


class Form:
    """The fields of a posted form: each may be there many times."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = fields

    def one(self, name: str) -> str:
        """The first value of a field, ``""`` when it is not there."""
        return self.every(name)[0] if self.every(name) else ""

    def every(self, name: str) -> list[str]:
        """All values of a field, each once."""
        return list(dict.fromkeys(self._fields.get(name, ())))


async def read_form(request: Request) -> Form:
    """The form that a request posts. Raises :class:`BadForm` when it is none, too long, or does not arrive."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
        raise BadForm(f"a form of this page is sent as {KIND}")
    try:
        async with asyncio.timeout(PATIENCE_S):
            body = await _body(request)
        return Form(parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"))
    except TimeoutError:
        raise BadForm(f"the form did not arrive within {PATIENCE_S:.0f} seconds") from None
    except ClientDisconnect:
        raise BadForm("the browser went away before the form had arrived") from None
    except ValueError:
        raise BadForm(f"the form has more than {MAX_FIELDS} fields, or is not in UTF-8") from None


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BYTES:
            raise BadForm(f"the form has more than {MAX_BYTES} bytes")
    return bytes(body)
