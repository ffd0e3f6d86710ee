"""Plugin sources for measuring: as many as wanted, each of some 150 lines, like those that people write."""

from __future__ import annotations

from pathlib import Path

PYTHON = '''"""Keeps the {noun} catalogue in step with the warehouse: imports, prunes and reports.

The catalogue is read in pages. A page that fails is tried again by the queue, so no page is lost and none is read twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from nsplugin import Context, Cron, Job, Request, Response, Route, define_plugin

log = logging.getLogger(__name__)

PAGE_SIZE = {page}
KEEP_DAYS = 30 + {number} % 60
MINUTE_MS = 60_000
PREFIX = "{noun}"


class ImportPage(BaseModel):
    """One page of the catalogue to fetch."""

    cursor: str | None = None
    page: int = Field(default=0, ge=0)


class Prune(BaseModel):
    """How old an entry may become before it is dropped."""

    older_than_days: int = Field(default=30, ge=1, le=400)


@dataclass(frozen=True)
class Entry:
    """One item of the catalogue as the warehouse sends it."""

    sku: str
    title: str
    price: int
    seen: datetime
    tags: tuple[str, ...] = field(default=())

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> Entry:
        """The entry that a JSON object of the warehouse describes. Raises ``ValueError`` for one that is incomplete."""
        try:
            sku, title = str(raw["sku"]), str(raw["title"])
        except KeyError as error:
            raise ValueError(f"the entry lacks {{error.args[0]}}") from error
        price = raw.get("price", 0)
        if not isinstance(price, int) or price < 0:
            raise ValueError("a price is a whole number of cents")
        seen = datetime.fromisoformat(raw["seen"]) if "seen" in raw else datetime.now(UTC)
        tags = tuple(sorted({{tag.strip().lower() for tag in raw.get("tags", []) if tag.strip()}}))
        return cls(sku=sku, title=title, price=price, seen=seen, tags=tags)

    @property
    def key(self) -> str:
        """Where the entry is stored."""
        return f"{{PREFIX}}:{{hashlib.sha256(self.sku.encode()).hexdigest()[:24]}}"

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return {{"sku": self.sku, "title": self.title, "price": self.price, "seen": self.seen.isoformat(), "tags": self.tags}}


def parsed(rows: Iterable[dict[str, Any]]) -> Iterator[Entry]:
    """The entries that can be read; the others are counted and logged."""
    dropped = 0
    for row in rows:
        try:
            yield Entry.parse(row)
        except ValueError as error:
            dropped += 1
            log.warning("dropped a row: %s", error)
    if dropped:
        log.info("%d rows dropped", dropped)


def is_stale(entry: Entry, now: datetime, days: int) -> bool:
    """Whether an entry was last seen too long ago."""
    return entry.seen < now - timedelta(days=days)


def totals(entries: Iterable[Entry]) -> dict[str, int]:
    """How many entries have each tag, and what all of them cost."""
    found: dict[str, int] = {{}}
    for entry in entries:
        found["price"] = found.get("price", 0) + entry.price
        for tag in entry.tags:
            found[tag] = found.get(tag, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


async def import_page(payload: ImportPage, attempt: int, ctx: Context) -> None:
    """Store one page and ask for the next."""
    rows = await ctx.kv.get(f"{{PREFIX}}:inbox:{{payload.page}}") or []
    entries = list(parsed(rows))
    for entry in entries:
        await ctx.kv.set(entry.key, entry.to_json())
    ctx.log.info("page stored", page=payload.page, entries=len(entries), attempt=attempt)
    if len(entries) == PAGE_SIZE:
        await ctx.jobs.enqueue(
            "import-page",
            {{"cursor": payload.cursor, "page": payload.page + 1}},
            delay_sec=5,
            dedupe_key=f"page-{{payload.page + 1}}",
        )


async def prune(payload: Prune, ctx: Context) -> None:
    """Drop what the warehouse no longer sends."""
    now = datetime.now(UTC)
    index = await ctx.kv.get(f"{{PREFIX}}:index") or []
    stale = [entry for entry in parsed(index) if is_stale(entry, now, payload.older_than_days)]
    for entry in stale:
        await ctx.kv.delete(entry.key)
    ctx.log.info("pruned", dropped=len(stale), kept=len(index) - len(stale))


async def report(ctx: Context) -> None:
    """Write the totals that the dashboard shows."""
    index = await ctx.kv.get(f"{{PREFIX}}:index") or []
    await ctx.kv.set(f"{{PREFIX}}:totals", json.dumps(totals(parsed(index))))


async def post_import(request: Request, ctx: Context) -> Response:
    """Start an import by hand."""
    try:
        wanted = ImportPage.model_validate(await request.json())
    except ValueError as error:
        return Response.json({{"error": str(error)}}, status=400)
    await ctx.jobs.enqueue("import-page", wanted.model_dump(), dedupe_key="by-hand")
    return Response.json({{"queued": True}}, status=202)


plugin = define_plugin(
    id="{noun}-catalogue-{number}",
    version="1.{minor}.0",
    capabilities=["storage.kv"],
    jobs={{
        "import-page": Job(import_page, max_attempts=5, timeout_ms=2 * MINUTE_MS, payload=ImportPage),
        "prune": Job(prune, timeout_ms=MINUTE_MS, payload=Prune),
        "report": Job(report, max_attempts=2),
    }},
    cron=[
        Cron("{minute} {hour} * * *", job="prune", payload={{"older_than_days": KEEP_DAYS}}),
        Cron("{minute} */6 * * *", job="report"),
        Cron("30 {hour} * * 1-5", job="import-page", payload={{"page": 0}}),
    ],
    routes={{"POST /import": Route(post_import, auth="user")}},
)
'''

NOUNS = ("invoice", "parcel", "ticket", "recipe", "sensor", "avatar", "ledger", "coupon", "review", "badge")


def write_python(folder: Path, count: int) -> None:
    """So many Python plugins, no two the same."""
    for number in range(count):
        text = PYTHON.format(
            noun=NOUNS[number % 10], number=number, page=50 + number, minor=number % 9, minute=number % 60, hour=4 + number % 18
        )
        (folder / f"plugin_{number}.py").write_text(text, encoding="utf-8")
