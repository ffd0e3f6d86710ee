"""What JSON can carry unharmed, whatever the platform (spec/manifest.md M6)."""

from __future__ import annotations

from typing import Final

SAFE_INTEGER: Final = 2**53 - 1
"""The greatest integer that a JSON number carries exactly everywhere; the least is its negative."""

DEPTH: Final = 64
"""How many containers may stand inside each other, the outermost included."""

TEXT_BYTES: Final = 1 << 20
"""How long a JSON text may be, in bytes of UTF-8."""

FINDINGS: Final = 100
"""How many findings one text or value gives at most; one more then says that there are others."""
