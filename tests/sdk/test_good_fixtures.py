"""The client's own examples as plugins (fixtures/good): their manifests, and that their handlers do what they say."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import tomli

from nsplugin import check_manifest
from nsplugin.definition.assembly import assemble
from nsplugin.manifest import Manifest
from nsplugin.platforms import load
from nsplugin.runtime.request import HttpRequest

GOOD = Path(__file__).parents[2] / "fixtures" / "good"
NAMES = ["cache-expiry", "cancel-stale-orders", "cdn-refresh", "order-automation", "recalc-totals"]


def module_of(name: str) -> ModuleType:
    """The fixture's entry, imported under a name of its own."""
    project = project_of(name)
    unique = f"fixture_{name.replace('-', '_')}"
    if unique not in sys.modules:
        spec = importlib.util.spec_from_file_location(unique, GOOD / name / project["entry"])
        assert spec is not None
        assert spec.loader is not None
        sys.modules[unique] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[unique])
    return sys.modules[unique]


def project_of(name: str) -> dict[str, Any]:
    return tomli.loads((GOOD / name / "nsplugin.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_the_manifest_is_the_golden_one(name: str) -> None:
    project, module = project_of(name), module_of(name)
    platform = load(project["platform"])
    stem = Path(project["entry"]).stem
    value = getattr(module, platform.layout.attribute)
    assembled = assemble(value, platform, {**project, "entry": f"{stem}:{platform.layout.attribute}"})
    assert assembled.problems == ()
    golden = (GOOD / name / "manifest.json").read_bytes()
    assert Manifest.of(assembled.raw, platform).to_bytes() == golden
    assert check_manifest(golden, timezone="Asia/Ho_Chi_Minh", now=datetime(2026, 3, 6, tzinfo=UTC)).problems == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_definition_survives_pickle(name: str) -> None:
    module = module_of(name)
    value = getattr(module, load(project_of(name)["platform"]).layout.attribute)
    assert pickle.loads(pickle.dumps(value)) == value


class Recorder:
    """A context whose calls are noted and answered at once."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.kv = SimpleNamespace(delete=self.noted("kv.delete"))
        self.jobs = SimpleNamespace(enqueue=self.noted("enqueue"))
        self.log = SimpleNamespace(info=lambda message, **fields: self.calls.append(("info", message, fields)))

    def noted(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> None:
            self.calls.append((name, *args, kwargs))

        return call


def post(path: str, body: str) -> HttpRequest:
    return HttpRequest(method="POST", path=path, body=body.encode())


def test_cache_expiry_queues_by_its_route_and_deletes_by_its_job() -> None:
    plugin, ctx = module_of("cache-expiry").plugin, Recorder()
    response = asyncio.run(plugin.route("POST /expire")(post("/expire", '{"key": "a"}'), ctx))
    assert (response.status, json.loads(response.body)) == (202, {"queued": True})
    payload = plugin.models["/jobs/expire"].validated({"key": "a"})
    asyncio.run(plugin.handler("expire")(payload=payload, attempt=2, ctx=ctx))
    assert ctx.calls == [
        ("enqueue", "expire", {"key": "a"}, {"delay_sec": 60, "dedupe_key": "a"}),
        ("kv.delete", "a", {}),
        ("info", "expired", {"attempt": 2}),
    ]


@pytest.mark.parametrize("body", ["", "nonsense", "{}", '{"key": ""}', '{"key": 5}', "[]"])
def test_cache_expiry_refuses_a_bad_request(body: str) -> None:
    plugin, ctx = module_of("cache-expiry").plugin, Recorder()
    response = asyncio.run(plugin.route("POST /expire")(post("/expire", body), ctx))
    told = {"error": 'send JSON such as {"key": "a"}'}
    assert (response.status, json.loads(response.body), ctx.calls) == (400, told, [])


@contextmanager
def service(status: int) -> Iterator[tuple[str, list[Any]]]:
    """A service on loopback that notes what it is asked for."""
    asked: list[Any] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            asked.append((json.loads(body), self.headers["idempotency-key"]))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_cdn_refresh_enqueues_by_its_route_and_calls_the_service_by_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """spec/nextskin.md C11."""
    module, ctx = module_of("cdn-refresh"), Recorder()
    response = asyncio.run(module.plugin.route("POST /refresh")(post("/refresh", '{"paths": ["/a", "/b"]}'), ctx))
    (_, job, payload, _) = ctx.calls.pop()
    assert (response.status, json.loads(response.body), job) == (202, {"queued": payload["purge_id"]}, "refresh")
    with service(200) as (url, asked):
        monkeypatch.setattr(module, "PURGE_URL", url)
        module.plugin.handler("refresh")(payload=module.plugin.models["/jobs/refresh"].validated(payload), ctx=ctx)
    assert asked == [({"paths": ["/a", "/b"]}, payload["purge_id"])]
    assert ctx.calls == [("info", "purged", {"status": 200, "paths": 2})]


def test_cdn_refresh_fails_when_the_service_does(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of("cdn-refresh")
    payload = module.Purge(purge_id="p", paths=["/a"])
    with service(503) as (url, asked):
        monkeypatch.setattr(module, "PURGE_URL", url)
        with pytest.raises(OSError, match="503") as caught:
            module.plugin.handler("refresh")(payload=payload, ctx=Recorder())
        caught.value.close()
    assert len(asked) == 1


class Orders:
    """Records of orders, a page at a time."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self.pages = pages
        self.asked: list[dict[str, Any]] = []
        self.updated: list[tuple[str, dict[str, Any]]] = []
        self.records = self
        self.fields = SimpleNamespace(status=SimpleNamespace(eq=lambda value: ("status", "eq", value)))

    def object(self, name: str) -> Orders:
        assert name == "order"
        return self

    async def list(self, **query: Any) -> Any:
        self.asked.append(query)
        number = int(query.get("cursor", "0"))
        items = [SimpleNamespace(id=fields.pop("id"), fields=fields) for fields in map(dict, self.pages[number])]
        more = number + 1 < len(self.pages)
        return SimpleNamespace(items=items, next_cursor=str(number + 1) if more else None)

    async def update(self, id: str, fields: dict[str, Any]) -> None:
        self.updated.append((id, fields))


@pytest.mark.parametrize("name", ["recalc-totals", "order-automation"])
def test_recalc_totals_works_page_by_page(name: str) -> None:
    handler: Any = module_of(name).recalc_totals.__cogover_job_handler__
    orders = Orders([{"id": "a", "subtotal": 10, "tax": 2}, {"id": "b"}], [{"id": "c", "tax": 1}])
    ctx = Recorder()
    asyncio.run(handler(payload=None, data=orders, jobs=ctx.jobs, log=ctx.log))
    asyncio.run(handler(payload={"cursor": "1"}, data=orders, jobs=ctx.jobs, log=ctx.log))
    assert orders.updated == [("a", {"total": 12}), ("b", {"total": 0}), ("c", {"total": 1})]
    assert orders.asked[1] == {"fields": ["subtotal", "tax"], "limit": 200, "cursor": "1"}
    assert ctx.calls == [("enqueue", "recalc_totals", {"cursor": "1"}, {}), ("info", "Order totals recalculated", {})]


@pytest.mark.parametrize("name", ["cancel-stale-orders", "order-automation"])
def test_cancel_stale_orders_cancels_what_is_new(name: str) -> None:
    handler: Any = module_of(name).cancel_stale_orders.__cogover_job_handler__
    orders = Orders([{"id": "a"}, {"id": "b"}])
    whole = name == "order-automation"
    asyncio.run(handler(context=SimpleNamespace(data=orders)) if whole else handler(data=orders))
    assert orders.asked == [{"where": ("status", "eq", "new"), "fields": ["status"], "limit": 200}]
    assert orders.updated == [("a", {"status": "cancelled"}), ("b", {"status": "cancelled"})]
