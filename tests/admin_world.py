"""An administration page over a core that tests fill: a real server on loopback, and virtual time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from engine_world import SECOND, Ending, World, cogover, nextskin, world
from nsplugin_core.admin.access import Access, access_to
from nsplugin_core.admin.app import create_app
from nsplugin_core.admin.hosts import HostNotice, no_notice
from nsplugin_core.admin.serving import AdminServer
from nsplugin_core.operations import Operations
from nsplugin_core.store.records import Ending as StoredEnding
from nsplugin_core.store.records import NewTask

TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')
MARKUP = '<img src=x onerror="document.title=\'owned\'"></td><script>document.title="owned"</script>'
AWAY = "the mail server is away"
HOSTILE_ERROR = f"{MARKUP} \u202egnp.exe\x1b[31m"


@dataclass
class Site:
    """A page that is served, and the core behind it."""

    core: World
    base: str
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, **options: Any) -> httpx.Client:
        """A new browser's worth of cookies."""
        made = httpx.Client(base_url=self.base, trust_env=False, timeout=30, **options)
        self.clients.append(made)
        return made

    def bury(self, count: int, *, plugin: str = "shop", job: str = "sync", error: str = AWAY, **options: Any) -> list[str]:
        """Dead letters, the oldest first; the job must have one attempt only."""
        self.core.hosts.script = lambda attempt: Ending("failure", error=error)
        ids = []
        for number in range(count):
            ids.append(self.core.enqueue(plugin, job, {"number": number}, **options).task_id)
            self.core.step()
            self.core.forward(SECOND)
        self.core.hosts.script = lambda attempt: Ending()
        return ids

    def bury_many(self, count: int, *, plugin: str = "shop", job: str = "sync", error: str = AWAY) -> None:
        """Thousands of dead letters, written in batches as a dispatcher would."""
        core = self.core
        for start in range(0, count, 500):
            names = [f"TSK{number:012d}" for number in range(start, min(start + 500, count))]
            new = [
                NewTask(
                    id=name, plugin=plugin, job=job, payload='{"a":1}', due_at=core.now, created_at=core.now, source="enqueue"
                )
                for name in names
            ]
            core.store.tasks.enqueue(new)
            claimed = core.store.tasks.claim({plugin: 500}, now=core.now, grace_ms=0, claimer="core-1")
            core.clock.advance_to(core.now + SECOND)
            core.store.tasks.finish(
                [_dead(each.task_id, each.claim, plugin, job, error, core.now) for each in claimed], now=core.now
            )


def _dead(task_id: str, claim: int, plugin: str, job: str, error: str, now: int) -> StoredEnding:
    return StoredEnding(
        task_id=task_id, claim=claim, plugin=plugin, job=job, number=1, outcome="failure", state="dead", attempt=1, run_at=now,
        sets_error=True, error=error, error_code=None, ended_at=now, keep_until=now + 30 * 86_400_000, log_until=now + 1000,
    )  # fmt: skip


@contextmanager
def site(folder: Path, access: Access | None = None, notice: HostNotice = no_notice, kind: str = "sqlite") -> Iterator[Site]:
    """A served page over an empty core."""
    access = access or access_to("127.0.0.1:0")
    with world(kind, folder) as core:
        server = AdminServer(create_app(Operations.on(core.store, core.clock, core.enqueuer), access, notice=notice), access)
        server.start()
        made = Site(core, server.url.removesuffix("/admin/plugins"))
        try:
            yield made
        finally:
            for client in made.clients:
                client.close()
            server.stop()


SHOP_JOBS = {"sync": {"maxAttempts": 1}, "mail": {"maxAttempts": 3, "timeoutMs": 2000}}
SHOP_CRON = ({"schedule": "30 2 * * *", "job": "mail"}, {"schedule": "0 */6 * * *", "job": "sync"})


def install_shop(made: Site) -> None:
    """The plugin most tests are about."""
    made.core.install(nextskin("shop", jobs=SHOP_JOBS, cron=SHOP_CRON), "America/New_York")


def install_orders(made: Site) -> None:
    """A Cogover project."""
    made.core.install(cogover("orders", jobs=[{"key": "sync", "name": "Sync orders", "maxAttempts": 1}]))


def form_token(page: str) -> str:
    """The token of the forms of a page."""
    found = TOKEN.search(page)
    assert found is not None, page
    return found[1]


def text_of(page: str) -> str:
    """What a reader sees of a page, roughly: without tags, white space folded."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).split())


def post(client: httpx.Client, path: str, *, start: str = "/admin/plugins/shop", **fields: Any) -> httpx.Response:
    """What a form of the page ``start`` posts, followed to where it leads."""
    token = form_token(client.get(start).text)
    headers = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    return client.post(path, data={"token": token, **fields}, headers=headers, follow_redirects=True)
