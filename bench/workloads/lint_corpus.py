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


TYPESCRIPT = """/**
 * Keeps the {noun} catalogue in step with the warehouse: imports, prunes and reports.
 *
 * The catalogue is read in pages. A page that fails is tried again by the queue, so no page is lost and none is read twice.
 */
import {{ definePlugin, z }} from '@nextskin/plugin-sdk'

const PAGE_SIZE = {page}
const KEEP_DAYS = 30 + {number} % 60
const MINUTE_MS = 60_000
const PREFIX = '{noun}'

/** One page of the catalogue to fetch. */
const importPage = z.object({{ cursor: z.string().nullable().default(null), page: z.number().int().min(0).default(0) }})

/** How old an entry may become before it is dropped. */
const prune = z.object({{ olderThanDays: z.number().int().min(1).max(400).default(30) }})

interface Entry {{
  sku: string
  title: string
  price: number
  seen: Date
  tags: readonly string[]
}}

/** The entry that a JSON object of the warehouse describes. Throws for one that is incomplete. */
function parseEntry(raw: Record<string, unknown>): Entry {{
  const {{ sku, title }} = raw
  if (typeof sku !== 'string' || typeof title !== 'string') {{
    throw new Error('the entry lacks its sku or its title')
  }}
  const price = raw.price ?? 0
  if (typeof price !== 'number' || !Number.isInteger(price) || price < 0) {{
    throw new Error('a price is a whole number of cents')
  }}
  const seen = typeof raw.seen === 'string' ? new Date(raw.seen) : new Date()
  const tags = Array.isArray(raw.tags) ? [...new Set(raw.tags.map((tag) => String(tag).trim().toLowerCase()))].sort() : []
  return {{ sku, title, price, seen, tags }}
}}

/** Where the entry is stored. */
const keyOf = (entry: Entry): string => `${{PREFIX}}:${{encodeURIComponent(entry.sku)}}`

/** The entries that can be read; the others are counted and logged. */
function* parsed(rows: Iterable<Record<string, unknown>>, log: (text: string) => void): Generator<Entry> {{
  let dropped = 0
  for (const row of rows) {{
    try {{
      yield parseEntry(row)
    }} catch (error) {{
      dropped += 1
      log(`dropped a row: ${{error instanceof Error ? error.message : 'unknown'}}`)
    }}
  }}
  if (dropped > 0) log(`${{dropped}} rows dropped`)
}}

/** Whether an entry was last seen too long ago. */
function isStale(entry: Entry, now: Date, days: number): boolean {{
  return entry.seen.getTime() < now.getTime() - days * 24 * 60 * MINUTE_MS
}}

/** How many entries have each tag, and what all of them cost. */
function totals(entries: Iterable<Entry>): Record<string, number> {{
  const found: Record<string, number> = {{}}
  for (const entry of entries) {{
    found.price = (found.price ?? 0) + entry.price
    for (const tag of entry.tags) {{
      found[tag] = (found[tag] ?? 0) + 1
    }}
  }}
  return Object.fromEntries(Object.entries(found).sort(([a, left], [b, right]) => right - left || a.localeCompare(b)))
}}

export default definePlugin({{
  id: '{noun}-catalogue-{number}',
  version: '1.{minor}.0',
  capabilities: ['storage.kv'],
  jobs: {{
    'import-page': {{
      maxAttempts: 5,
      timeoutMs: 2 * MINUTE_MS,
      async handler({{ payload, attempt, ctx }}) {{
        const {{ cursor, page }} = importPage.parse(payload)
        const rows = (await ctx.kv.get(`${{PREFIX}}:inbox:${{page}}`)) ?? []
        const entries = [...parsed(rows, (text) => ctx.log.warn(text))]
        for (const entry of entries) {{
          await ctx.kv.set(keyOf(entry), entry)
        }}
        ctx.log.info('page stored', {{ page, entries: entries.length, attempt }})
        if (entries.length === PAGE_SIZE) {{
          const next = page + 1
          await ctx.jobs.enqueue('import-page', {{ cursor, page: next }}, {{ delaySec: 5, dedupeKey: `page-${{next}}` }})
        }}
      }},
    }},
    prune: {{
      timeoutMs: MINUTE_MS,
      async handler({{ payload, ctx }}) {{
        const {{ olderThanDays }} = prune.parse(payload)
        const index = (await ctx.kv.get(`${{PREFIX}}:index`)) ?? []
        const entries = [...parsed(index, (text) => ctx.log.warn(text))]
        const stale = entries.filter((entry) => isStale(entry, new Date(), olderThanDays))
        for (const entry of stale) await ctx.kv.delete(keyOf(entry))
        ctx.log.info('pruned', {{ dropped: stale.length, kept: index.length - stale.length }})
      }},
    }},
    report: {{
      maxAttempts: 2,
      async handler({{ ctx }}) {{
        const index = (await ctx.kv.get(`${{PREFIX}}:index`)) ?? []
        await ctx.kv.set(`${{PREFIX}}:totals`, JSON.stringify(totals(parsed(index, (text) => ctx.log.warn(text)))))
      }},
    }},
  }},
  cron: [
    {{ schedule: '{minute} {hour} * * *', job: 'prune', payload: {{ olderThanDays: KEEP_DAYS }} }},
    {{ schedule: '{minute} */6 * * *', job: 'report' }},
    {{ schedule: '30 {hour} * * 1-5', job: 'import-page', payload: {{ page: 0 }} }},
  ],
  routes: {{
    'POST /import': {{
      auth: 'user',
      async handler({{ request, ctx }}) {{
        const wanted = importPage.safeParse(await request.json().catch(() => null))
        if (!wanted.success) return Response.json({{ error: 'invalid page' }}, {{ status: 400 }})
        await ctx.jobs.enqueue('import-page', wanted.data, {{ dedupeKey: 'by-hand' }})
        return Response.json({{ queued: true }}, {{ status: 202 }})
      }},
    }},
  }},
}})
"""

NOUNS = ("invoice", "parcel", "ticket", "recipe", "sensor", "avatar", "ledger", "coupon", "review", "badge")


def write(folder: Path, template: str, ending: str, count: int) -> None:
    """So many plugins in one language, no two the same."""
    for number in range(count):
        text = template.format(
            noun=NOUNS[number % 10], number=number, page=50 + number, minor=number % 9, minute=number % 60, hour=4 + number % 18
        )
        (folder / f"plugin_{number}.{ending}").write_text(text, encoding="utf-8")
