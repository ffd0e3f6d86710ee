"""No value and no text gives findings without end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from nsplugin.json_limits import FINDINGS
from nsplugin.rules import Found


def limited(findings: Iterable[Found], pointer: str) -> Iterator[Found]:
    """The first ``FINDINGS`` findings and, if there are others, one at ``pointer`` that says so. Those are not looked for."""
    rest = iter(findings)
    yield from islice(rest, FINDINGS)
    if next(rest, None) is not None:
        yield Found(
            pointer=pointer,
            message=f"there are more than {FINDINGS} faults in this value",
            hint="put the listed ones right first",
        )
