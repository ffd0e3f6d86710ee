"""Names that, by what they say, hold a secret."""

from __future__ import annotations

from typing import Final

from nsplugin.lazy import pattern

_WORDS: Final = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_ALONE: Final = frozenset(("secret", "password", "passwd", "passphrase", "apikey", "credential", "bearer"))
_PAIRS: Final = frozenset(
    {("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("signing", "key"), ("encryption", "key")}
    | {("access", "token"), ("auth", "token"), ("refresh", "token"), ("bearer", "token"), ("api", "token")}
)
_FIRSTS: Final = tuple(sorted({first for first, _ in _PAIRS}))
_SECONDS: Final = tuple(sorted({second for _, second in _PAIRS}))


def looks_secret(name: str) -> bool:
    """Whether the name of a variable or field says that it holds a secret: ``api_key``, ``dbPassword``, not ``key_count``."""
    words = [_singular(word.lower()) for word in _WORDS.findall(name)]
    return bool(words) and (words[-1] in _ALONE or tuple(words[-2:]) in _PAIRS)


def may_name_secret(text: str) -> bool:
    """Whether any name in a text might be one that says it holds a secret: a quick look before the exact one."""
    lowered = text.lower()
    return any(word in lowered for word in _ALONE) or any(_has_pair(lowered, second) for second in _SECONDS)


def _has_pair(lowered: str, second: str) -> bool:
    start = lowered.find(second)
    while start >= 0:
        if lowered[max(0, start - 12) : start].rstrip("_-").endswith(_FIRSTS):
            return True
        start = lowered.find(second, start + 1)
    return False


def _singular(word: str) -> str:
    return word if len(word) < 4 or word.endswith("ss") else word.removesuffix("s")
