"""Generated files are what the code says now; fixtures and the README have tests of their own."""

from __future__ import annotations

import generated


def test_schemas_and_pages_are_up_to_date() -> None:
    stale = [path.name for path, data in generated.documents() if path.read_bytes() != data]
    assert stale == [], "`make update` writes them"
