"""Signed cookies: who has logged in, the token of each form, and the message that the next page shows.

The key is new with each start of the core, so nothing that was signed before is worth anything after.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

SESSION_S: Final = 12 * 3600
FLASH_S: Final = 60
MAX_FLASH: Final = 600
MAX_COOKIE: Final = 4_096
_MAX_ENDED: Final = 10_000
Kind = Literal["open", "token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser's session. ``kind`` is ``token`` once the administration token was given; ``started_s`` is in UTC seconds."""

    kind: Kind
    id: str
    started_s: int


class Sessions:
    """Makes and reads what the page keeps in a browser. ``now_s`` gives UTC seconds of the real clock."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._key = secrets.token_bytes(32)
        self._ended: dict[str, None] = {}

    def start(self, kind: Kind) -> Session:
        """A new session."""
        return Session(kind=kind, id=secrets.token_urlsafe(16), started_s=int(self._now_s()))

    def cookie(self, session: Session) -> str:
        """The session as a cookie's value."""
        return self._signed("session", f"{session.kind}.{session.started_s}.{session.id}")

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie that was made here, has not run out and was not ended."""
        kind, _, rest = (self._verified("session", cookie) or "").partition(".")
        started, _, name = rest.partition(".")
        if kind not in ("open", "token") or name in self._ended or self._now_s() >= int(started) + SESSION_S:
            return None
        return Session(kind="token" if kind == "token" else "open", id=name, started_s=int(started))

    def end(self, session: Session) -> None:
        """Take no more of this session; the oldest of many that were ended are forgotten."""
        self._ended[session.id] = None
        if len(self._ended) > _MAX_ENDED:
            del self._ended[next(iter(self._ended))]

    def form_token(self, session: Session, user: str) -> str:
        """What each form of this session carries, so that no other site can send one."""
        return self._mac("form", f"{session.id}\0{user}")

    def is_form_token(self, session: Session, user: str, given: str) -> bool:
        """Whether a form was made for this session; compared in constant time."""
        return _equal(self.form_token(session, user), given)

    def flash(self, kind: Literal["done", "failed"], text: str) -> str:
        """A message for the next page, as a cookie's value."""
        shown = text if len(text) <= MAX_FLASH else f"{text[: MAX_FLASH - 1]}…"
        return self._signed("flash", f"{int(self._now_s())}.{kind}.{shown}")

    def read_flash(self, cookie: str | None) -> tuple[str, str] | None:
        """Kind and text of a message that was made here a moment ago."""
        made, _, rest = (self._verified("flash", cookie) or "").partition(".")
        if not made or self._now_s() >= int(made) + FLASH_S:
            return None
        kind, _, text = rest.partition(".")
        return kind, text

    def _signed(self, purpose: str, value: str) -> str:
        return f"{base64.urlsafe_b64encode(value.encode()).decode().rstrip('=')}.{self._mac(purpose, value)}"

    def _verified(self, purpose: str, cookie: str | None) -> str | None:
        if cookie is None or len(cookie) > MAX_COOKIE:
            return None
        body, _, signature = cookie.partition(".")
        try:
            value = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
        except ValueError:
            return None
        return value if _equal(self._mac(purpose, value), signature) else None

    def _mac(self, purpose: str, value: str) -> str:
        return hmac.digest(self._key, f"{purpose}\0{value}".encode(), "sha256").hex()


def is_token(expected: str, given: str) -> bool:
    """Whether the administration token was given; compared in constant time, whatever its length."""
    return _equal(expected, given)


def _equal(expected: str, given: str) -> bool:
    key = secrets.token_bytes(32)
    digests = (hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256") for text in (expected, given))
    return hmac.compare_digest(*digests)
