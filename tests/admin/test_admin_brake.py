"""Guessing at the administration token gets slower, and locks nobody out (spec/core.md Administration page)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from admin_world import form_token, site
from nsplugin_core.admin import brake as braking
from nsplugin_core.admin.access import access_to
from nsplugin_core.admin.brake import FORGET_S, LONGEST_S, MOST_CLIENTS, MOST_WAITING, Brake

TOKEN = "correct-horse-battery-staple"


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def waits(brake: Brake, client: str | None, times: int) -> list[float]:
    return [brake.after_wrong(client) for _ in range(times)]


def test_each_wrong_token_waits_longer_and_others_do_not() -> None:
    brake = Brake(Clock())
    assert waits(brake, "10.0.0.1", 12) == [0.5, 0.5, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30]
    assert waits(brake, "10.0.0.2", 1) == [0.5]
    assert waits(brake, None, 1) == [0.5]


def test_who_rests_is_forgotten() -> None:
    clock = Clock()
    brake = Brake(clock)
    waits(brake, "10.0.0.1", 2_000)
    clock.now += FORGET_S
    assert waits(brake, "10.0.0.1", 1) == [LONGEST_S]
    clock.now += FORGET_S + 1
    assert waits(brake, "10.0.0.1", 1) == [0.5]


def test_the_addresses_of_one_ipv6_network_are_one_client() -> None:
    brake = Brake(Clock())
    assert [brake.after_wrong(f"2001:db8:1:2::{n}") for n in range(1, 6)] == [0.5, 0.5, 0.5, 1, 2]
    assert waits(brake, "2001:db8:1:3::1", 1) == [0.5]
    assert [brake.after_wrong(f"::ffff:10.0.0.{n}") for n in range(1, 6)] == [0.5] * 5, "a dual-stack socket's IPv4 peers"


def test_the_memory_of_clients_is_bounded_and_keeps_the_latest() -> None:
    brake = Brake(Clock())
    for number in range(MOST_CLIENTS * 2):
        waits(brake, f"client {number}", 4)
    assert waits(brake, f"client {MOST_CLIENTS * 2 - 1}", 1) == [2]
    assert waits(brake, "client 0", 1) == [0.5]


def test_held_answers_do_not_use_up_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    async def guess() -> None:
        await asyncio.gather(*(brake.hold("10.0.0.1") for _ in range(100)))

    real = asyncio.sleep
    brake = Brake(Clock())
    waits(brake, "10.0.0.1", 50)
    monkeypatch.setattr(braking.asyncio, "sleep", sleep)
    asyncio.run(guess())
    assert slept == [LONGEST_S] * MOST_WAITING + [0.5] * (100 - MOST_WAITING)


def test_the_right_token_is_let_in_at_once_whatever_was_guessed_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(braking, "FIRST_S", 0.0)
    with site(tmp_path, access_to("127.0.0.1:0", token=TOKEN)) as page:

        def log_in(client: httpx.Client, token: str) -> httpx.Response:
            form = form_token(client.get("/admin/login").text)
            return client.post("/admin/login", data={"token": form, "admin_token": token})

        guesser = page.client()
        assert {log_in(guesser, f"wrong {n}").status_code for n in range(12)} == {403}
        monkeypatch.setattr(braking, "FIRST_S", 30.0)
        begun = time.monotonic()
        assert log_in(page.client(), TOKEN).status_code == 303
        assert time.monotonic() - begun < 20
