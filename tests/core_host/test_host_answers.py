"""What the core answers to the calls of a plugin that is not installed any more."""

from __future__ import annotations

from pathlib import Path

from engine_world import NOON, World, nextskin
from nsplugin_core.clock import VirtualClock
from nsplugin_core.host.capabilities.answers import Answers
from nsplugin_core.host.capabilities.services import core_services
from nsplugin_core.host.settings import PluginSource
from nsplugin_core.store import MEMORY, open_store


def test_a4_what_runs_while_its_plugin_is_uninstalled_stores_nothing_more() -> None:
    core = World(open_store(MEMORY), VirtualClock(NOON))
    core.install(nextskin())
    core.hosts.script = lambda attempt: None
    core.enqueue()
    core.step()
    manifest = {**nextskin().value, "capabilities": ["storage.kv"]}
    source = PluginSource(id="shop", platform="nextskin", directory=Path(), entry="plugin:plugin", manifest=manifest)
    answers = Answers(source, core_services(core.store, core.clock, core.enqueuer, lambda plugin: "nextskin"))
    visit = answers.visit(core.hosts.started[0], 60_000)
    stored = {"key": "k", "value": 1}
    assert answers.answer(visit, "kv.set", stored) == {"value": None}
    core.registry.uninstall("shop")
    answer = answers.answer(visit, "kv.set", stored)
    assert isinstance(answer, dict)
    assert answer["fault"]["code"] == "ATTEMPT_OVER"
    assert answer["fault"]["message"] == "kv.set: the attempt is over; nothing it does counts any more"
    core.store.close()
