"""``crypto``: hashes, signatures and randomness, computed where the handler runs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import uuid
from collections.abc import Callable, Mapping
from typing import Final, Literal

from nsplugin.runtime.invocation import Run

Data = str | bytes
Encoding = Literal["hex", "base64", "base64url"]
_ALGORITHMS: Final = ("sha256", "sha384", "sha512")
_ENCODINGS: Final[Mapping[str, Callable[[bytes], str]]] = {
    "hex": bytes.hex,
    "base64": lambda digest: base64.b64encode(digest).decode(),
    "base64url": lambda digest: base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
}


class Crypto:
    """Plain functions: nothing leaves the process. Text counts as its UTF-8 bytes."""

    __slots__ = ()

    def __init__(self, run: Run) -> None:
        """Needs nothing of the run; made as the other APIs are."""

    def hash(self, algorithm: str, data: Data, encoding: Encoding = "hex") -> str:
        """A digest by sha256, sha384 or sha512."""
        return _encoded(hashlib.new(_known(algorithm), _bytes(data)).digest(), encoding)

    def hmac(self, algorithm: str, key: Data, data: Data, encoding: Encoding = "hex") -> str:
        """A keyed digest (HMAC), as webhooks are signed with."""
        return _encoded(hmac.digest(_bytes(key), _bytes(data), _known(algorithm)), encoding)

    def equal(self, left: Data, right: Data) -> bool:
        """Compare in a time that does not tell how much is equal."""
        return hmac.compare_digest(_bytes(left), _bytes(right))

    def random_bytes(self, count: int) -> bytes:
        """Unpredictable bytes, 1 to 65,536."""
        if not 1 <= count <= 65_536:
            raise ValueError(f"random_bytes gives 1 to 65,536 bytes, not {count}")
        return secrets.token_bytes(count)

    def random_uuid(self) -> str:
        """A random UUID."""
        return str(uuid.uuid4())


def _bytes(data: Data) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


def _known(algorithm: str) -> str:
    name = algorithm.lower().replace("-", "")
    if name not in _ALGORITHMS:
        raise ValueError(f"no algorithm {algorithm!r}; there are {', '.join(_ALGORITHMS)}")
    return name


def _encoded(digest: bytes, encoding: str) -> str:
    if encoding not in _ENCODINGS:
        raise ValueError(f"no encoding {encoding!r}; there are {', '.join(_ENCODINGS)}")
    return _ENCODINGS[encoding](digest)
