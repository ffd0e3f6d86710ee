"""Enqueueing through the engine: limits at their exact boundaries, and errors as their readers see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_world import DAY, NOON, World, cogover, nextskin
from nsplugin.platforms import every
from nsplugin.runtime.faults import Fault
from nsplugin_core.clock import VirtualClock
from nsplugin_core.enqueueing import task_id
from nsplugin_core.ids import new_id
from nsplugin_core.store import MEMORY, open_store


@pytest.fixture
def core() -> Iterator[World]:
    store = open_store(MEMORY)
    made = World(store, VirtualClock(NOON))
    made.install(nextskin())
    made.install(cogover())
    yield made
    store.close()


def refused(core: World, plugin: str = "shop", job: str = "sync", payload: Any = None, **options: Any) -> str:
    with pytest.raises(Fault) as fault:
        core.enqueue(plugin, job, payload, **options)
    assert core.store.tasks.depths() == []
    assert fault.value.code == "VALIDATION_ERROR"
    return fault.value.message


@pytest.mark.parametrize("plugin", ["shop", "orders"])
def test_e2_e3_a_payload_of_65536_bytes_is_accepted_and_one_of_65537_is_not(core: World, plugin: str) -> None:
    assert "65,537 bytes as JSON, 65,536 are allowed" in refused(core, plugin, payload="x" * 65_535)
    assert "65,537 bytes" in refused(core, plugin, payload="ü" * 32_767 + "x")
    assert "65,537 bytes" in refused(core, plugin, payload='"' * 32_767 + "x"), "a quote counts as its escape sequence"
    task = core.enqueue(plugin, payload="ü" * 32_767).task_id
    assert core.task(task).payload_bytes == 65_536


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delaySec": -1}, "delaySec is -1; it must be a whole number of seconds from 0 to 2592000"),
        ({"delaySec": 2_592_001}, "delaySec is 2592001"),
        ({"delaySec": 1.5}, "delaySec is 1.5"),
        ({"delaySec": True}, "delaySec is True"),
        ({"dedupeKey": ""}, "dedupeKey '' has 0 characters; 1 to 255 are allowed"),
        ({"dedupeKey": "k" * 256}, "has 256 characters"),
        ({"dedupeKey": " k"}, "begins or ends with white space"),
        ({"dedupeKey": "k\xa0"}, "begins or ends with white space"),
        ({"dedupeKey": "k\ufeff"}, "begins or ends with white space"),
        ({"dedupeKey": "a\0b"}, "contains a NUL character"),
        ({"dedupeKey": "a\ud800b"}, "contains half of a surrogate pair"),
        ({"dedupe_key": "k"}, "has no option 'dedupe_key'; did you mean dedupeKey?"),
    ],
)
def test_e3_e4_nextskin_options(core: World, options: dict[str, Any], message: str) -> None:
    assert message in refused(core, **options)


def test_e3_e4_nextskin_boundaries_that_hold(core: World) -> None:
    assert core.task(core.enqueue(delaySec=2_592_000).task_id).run_at == NOON + 30 * DAY
    assert core.enqueue(dedupeKey="\U0001f600" * 255).duplicate is False
    assert core.enqueue(dedupeKey="\U0001f600" * 255).duplicate is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delayMs": 2_592_000_001}, "delayMs is 2592000001; it must be a whole number of milliseconds from 0 to 2592000000"),
        ({"runAt": NOON + 30 * DAY + 1}, "at most 30 days from now"),
        ({"runAt": NOON, "delayMs": 0}, "delayMs and runAt exclude each other"),
        ({"idempotencyKey": "-k"}, "idempotencyKey '-k' is not allowed: it must begin with a letter or digit"),
        ({"idempotencyKey": "k" * 129}, "128 characters at most"),
        ({"idempotencyKey": "k\n"}, "is not allowed"),
    ],
)
def test_e4_e5_cogover_options(core: World, options: dict[str, Any], message: str) -> None:
    assert message in refused(core, "orders", **options)


def test_e4_e5_cogover_boundaries_that_hold(core: World) -> None:
    assert core.task(core.enqueue("orders", delayMs=2_592_000_000).task_id).run_at == NOON + 30 * DAY
    assert core.task(core.enqueue("orders", runAt=NOON + 30 * DAY).task_id).run_at == NOON + 30 * DAY
    assert core.enqueue("orders", idempotencyKey="k" * 128).duplicate is False


def test_e1_e2_an_undeclared_job_names_the_declared_ones(core: World) -> None:
    assert "no job 'nope' is declared; declared: sync" in refused(core, job="nope")


def test_a_plugin_that_is_not_installed(core: World) -> None:
    with pytest.raises(Fault, match="no plugin 'nobody' is installed here; `nsplugin install` installs one") as fault:
        core.enqueue("nobody")
    assert fault.value.code == "NOT_FOUND"


def test_e3_what_json_would_change_is_refused(core: World) -> None:
    assert "payload at /a" in refused(core, payload={"a": float("nan")})


def test_e6_an_enqueue_that_found_its_key_taken_says_duplicate_to_whoever_watches(core: World) -> None:
    core.enqueue(dedupeKey="k")
    core.enqueue(dedupeKey="k")
    assert core.types() == ["enqueue", "duplicate"]


def test_x7_ids_have_the_platform_s_form_and_come_from_the_injected_source(tmp_path: Path) -> None:
    import random

    for platform in every():
        made = task_id(platform, random.Random(4))
        assert made == task_id(platform, random.Random(4))
        assert re.fullmatch(r"[A-Z0-9]{15}", made)
        assert platform.run_id is None or platform.run_id.matches(made)
    source = random.Random(5)
    assert len({new_id("TSJ", 15, source) for _ in range(20_000)}) == 20_000
