"""Values and locks that plugins keep, on both stores."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from engine_world import MINUTE, SECOND, World, nextskin
from nsplugin_core.store.errors import UnknownPlugin


@pytest.fixture
def core(core: World) -> World:
    """With the plugins whose data it is."""
    for plugin in ("shop", "mail"):
        core.install(nextskin(plugin))
    return core


def put(core: World, key: str, value: str, *, expected: int | None = None, expires_at: int | None = None) -> int | None:
    return core.store.data.put("shop", "n", key, value, now=core.now, expected=expected, expires_at=expires_at)


def get(core: World, key: str) -> str | None:
    entry = core.store.data.entry("shop", "n", key, now=core.now)
    return None if entry is None else entry.value


def test_values_belong_to_a_plugin_and_a_namespace(core: World) -> None:
    put(core, "k", '"ü"')
    assert get(core, "k") == '"ü"'
    assert core.store.data.entry("mail", "n", "k", now=core.now) is None
    assert core.store.data.entry("shop", "", "k", now=core.now) is None


def test_each_write_gives_a_greater_version(core: World) -> None:
    versions = [put(core, "k", "1"), put(core, "k", "2"), put(core, "other", "3"), put(core, "k", "4")]
    assert all(isinstance(version, int) and version > 0 for version in versions)
    assert versions == sorted(set(versions), key=lambda version: version or 0)


def test_compare_and_set_writes_only_over_the_expected_version(core: World) -> None:
    first = put(core, "k", "1", expected=0)
    assert first is not None
    assert put(core, "k", "2", expected=0) is None
    second = put(core, "k", "2", expected=first)
    assert second is not None
    assert put(core, "k", "3", expected=first) is None
    assert get(core, "k") == "2"


def test_a_version_is_never_used_again_after_a_delete(core: World) -> None:
    first = put(core, "k", "1")
    assert first is not None
    assert core.store.data.remove("shop", "n", "k", now=core.now, expected=first + 1) is False
    assert core.store.data.remove("shop", "n", "k", now=core.now, expected=first) is True
    assert core.store.data.remove("shop", "n", "k", now=core.now) is False
    again = put(core, "k", "2", expected=0)
    assert again is not None
    assert again > first


def test_an_expired_value_is_gone_at_its_moment(core: World) -> None:
    version = put(core, "k", "1", expires_at=core.now + MINUTE)
    core.clock.advance_to(core.now + MINUTE - 1)
    assert get(core, "k") == "1"
    core.clock.advance_to(core.now + 1)
    assert get(core, "k") is None
    assert put(core, "k", "2", expected=version) is None
    assert core.store.data.remove("shop", "n", "k", now=core.now) is False
    assert put(core, "k", "2", expected=0) is not None
    assert get(core, "k") == "2"


def test_expired_values_and_locks_are_swept(core: World) -> None:
    for number in range(3):
        put(core, f"k{number}", "1", expires_at=core.now + number * MINUTE + 1)
    core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=SECOND)
    core.clock.advance_to(core.now + MINUTE + 1)
    swept = core.store.tasks.sweep(now=core.now, limit=10)
    assert (swept.entries, swept.locks) == (2, 1)
    assert core.sweeper.run_once(core.now) == 0


def test_entries_list_by_code_point_with_prefix_and_page(core: World) -> None:
    for key in ("b", "a%", "a_", "aé", "a", "aZ", "a\U0001f600", "A"):
        put(core, key, "1")
    put(core, "a-old", "1", expires_at=core.now)
    listed = [entry.key for entry in core.store.data.entries("shop", "n", now=core.now, prefix="a")]
    assert listed == ["a", "a%", "aZ", "a_", "aé", "a\U0001f600"]
    page = core.store.data.entries("shop", "n", now=core.now, prefix="a", after="aZ", limit=2)
    assert [entry.key for entry in page] == ["a_", "aé"]
    assert len(core.store.data.entries("shop", "n", now=core.now)) == 8


def test_a_lock_is_one_lease_s_until_it_runs_out(core: World) -> None:
    first = core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=SECOND)
    assert first is not None
    assert core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=SECOND) is None
    core.clock.advance_to(core.now + SECOND)
    second = core.store.data.lock("shop", "l", "you", now=core.now, ttl_ms=SECOND)
    assert second is not None
    assert second.token > first.token
    assert core.store.data.renew("shop", "l", first.token, now=core.now, ttl_ms=SECOND) is None
    assert core.store.data.unlock("shop", "l", first.token, now=core.now) is False
    assert core.store.data.lock("mail", "l", "other plugin", now=core.now, ttl_ms=SECOND) is not None


def test_a_lease_is_renewed_and_given_back_by_its_token(core: World) -> None:
    lease = core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=SECOND)
    assert lease is not None
    core.clock.advance_to(core.now + SECOND - 1)
    renewed = core.store.data.renew("shop", "l", lease.token, now=core.now, ttl_ms=SECOND)
    assert renewed is not None
    assert (renewed.token, renewed.expires_at) == (lease.token, core.now + SECOND)
    assert core.store.data.unlock("shop", "l", lease.token, now=core.now) is True
    after = core.store.data.lock("shop", "l", "you", now=core.now, ttl_ms=SECOND)
    assert after is not None
    assert after.token > lease.token


def test_fencing_tokens_grow_however_many_fight_for_the_lock(core: World) -> None:
    """Each lease is given back at once; whoever had it later has the greater token."""
    granted: list[int] = []
    start = Barrier(8)

    def fight() -> None:
        start.wait()
        for _ in range(20):
            lease = core.store.data.lock("shop", "l", "x", now=core.now, ttl_ms=MINUTE)
            if lease is not None:
                granted.append(lease.token)
                core.store.data.unlock("shop", "l", lease.token, now=core.now)

    threads = [Thread(target=fight) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) >= 20
    assert granted == sorted(set(granted))


def test_of_many_who_compare_and_set_one_wins_each_version(core: World) -> None:
    start = Barrier(8)

    def count() -> None:
        start.wait()
        for _ in range(5):
            while True:
                entry = core.store.data.entry("shop", "n", "k", now=core.now)
                value, version = (int(entry.value), entry.version) if entry else (0, 0)
                if put(core, "k", str(value + 1), expected=version) is not None:
                    break

    threads = [Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert get(core, "k") == "40"


def test_a_lease_that_ran_out_is_not_given_back(core: World) -> None:
    lease = core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=SECOND)
    assert lease is not None
    assert core.store.data.unlock("shop", "l", lease.token, now=core.now + SECOND) is False


def test_what_an_uninstalled_plugin_still_writes_is_not_kept(core: World) -> None:
    """Its running handlers may: a later plugin of that id must not find it (spec/nextskin.md A4)."""
    version = put(core, "k", "1")
    core.registry.uninstall("shop")
    with pytest.raises(UnknownPlugin, match="no plugin 'shop' is installed here"):
        put(core, "k", "2")
    assert put(core, "new", "2", expected=0) is None
    assert put(core, "k", "2", expected=version) is None
    assert core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=MINUTE) is None
    core.install(nextskin())
    assert core.store.data.entries("shop", "n", now=core.now) == []
    assert core.store.data.lock("shop", "l", "me", now=core.now, ttl_ms=MINUTE) is not None


@pytest.mark.parametrize("prefix", ["", "a", "a\U0010ffff", "\U0010ffff", "\ud7ff", "z\U0010ffff\U0010ffff"])
def test_entries_of_a_prefix_end_with_it(core: World, prefix: str) -> None:
    keys = [
        "a",
        "a\U0010ffff",
        "a\U0010ffffb",
        "b",
        "z\U0010ffff\U0010ffffq",
        "\ud7ff",
        "\ud7ffx",
        "\ue000",
        "\U0010ffff",
        "\U0010ffffa",
    ]
    for key in keys:
        put(core, key, "1")
    listed = [entry.key for entry in core.store.data.entries("shop", "n", now=core.now, prefix=prefix)]
    assert listed == sorted(key for key in keys if key.startswith(prefix))
