"""Whether a TypeScript file that names no definer may list jobs that other files define. Needs no parser."""

from __future__ import annotations

import re
from typing import Final

_ARRAY: Final = rb"(?:Object\s*\.\s*\w+\s*\(\s*)?\["
"""The beginning of a list, frozen or not."""
_LIST: Final = re.compile(
    rb"\bexport\s+(?:const|let|var)\s+jobs\b|\bexports\s*\.\s*jobs\b"
    rb"|\bexports?\s*(?:=\s*)?\{[^{}]*\bjobs\b|\b(?:export\s+default|exports\s*=)\s*" + _ARRAY
)
_DEFAULT: Final = re.compile(rb"\bexport\s+default\s+(\w+)|\bexports\s*=\s*(\w+)")


def may_list_jobs(data: bytes) -> bool:
    """Whether the file exports something as ``jobs``, or an array as its default, and takes in names of other files."""
    if b"export" not in data or not (b"import" in data or b"require" in data):
        return False
    if _LIST.search(data) is not None:
        return True
    default = _DEFAULT.search(data)
    if default is None:
        return False
    name = re.escape(default[1] or default[2])
    return re.search(rb"\bconst\s+" + name + rb"\b[^=;]{0,200}=\s*" + _ARRAY, data) is not None
