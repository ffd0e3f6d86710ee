"""The exact limits of both platforms, each tested at both sides, and the names that the patterns take."""

from __future__ import annotations

from typing import Any

import pytest

from manifest_samples import codes, cogover, entry, found, nextskin, only, timed


def nextskin_name(name: str) -> dict[str, Any]:
    return nextskin(jobs={name: {}})


def nextskin_job(**options: Any) -> dict[str, Any]:
    return nextskin(jobs={"expire": options})


def cogover_job(**options: Any) -> dict[str, Any]:
    return cogover({"key": "sync", **options})


def many(count: int) -> dict[str, Any]:
    return cogover(*({"key": f"job_{number}"} for number in range(count)))


def hours(length: int) -> str:
    """A valid expression of that many characters."""
    text = "0" * (length - 9) + "0 * * * *"
    assert len(text) == length
    return text


EDGES = [
    ("NextSkin D9: id of 64", nextskin(id="a" * 64), nextskin(id="a" * 65), "NSP110"),
    ("Cogover id of 64", cogover(id="a" * 64), cogover(id="a" * 65), "NSP110"),
    ("NextSkin D3: job name of 64", nextskin_name("a" * 64), nextskin_name("a" * 65), "NSP102"),
    ("Cogover D3: key of 100", cogover({"key": "a" * 100}), cogover({"key": "a" * 101}), "NSP102"),
    ("NextSkin D5: 1 attempt", nextskin_job(maxAttempts=1), nextskin_job(maxAttempts=0), "NSP104"),
    ("NextSkin D5: 20 attempts", nextskin_job(maxAttempts=20), nextskin_job(maxAttempts=21), "NSP104"),
    ("Cogover D5: 1 attempt", cogover_job(maxAttempts=1), cogover_job(maxAttempts=0), "NSP104"),
    ("Cogover D5: 10 attempts", cogover_job(maxAttempts=10), cogover_job(maxAttempts=11), "NSP104"),
    ("NextSkin D6: 1 ms", nextskin_job(timeoutMs=1), nextskin_job(timeoutMs=0), "NSP105"),
    ("NextSkin D6: 600000 ms", nextskin_job(timeoutMs=600_000), nextskin_job(timeoutMs=600_001), "NSP105"),
    ("Cogover D5: 1000 ms", cogover_job(timeoutMs=1000), cogover_job(timeoutMs=999), "NSP105"),
    ("Cogover D5: 60000 ms", cogover_job(timeoutMs=60_000), cogover_job(timeoutMs=60_001), "NSP105"),
    ("Cogover D4: name of 250", cogover_job(name="é" * 250), cogover_job(name="é" * 251), "NSP109"),
    ("Cogover D4: name of 250 beyond the BMP", cogover_job(name="𝄞" * 250), cogover_job(name="𝄞" * 251), "NSP109"),
    ("Cogover D7: 50 jobs", many(50), many(51), "NSP108"),
    ("Cogover D6: cron of 128", cogover(timed(hours(128))), cogover(timed(hours(129))), "NSP205"),
    ("NextSkin G1: cron of 1024", nextskin(cron=[entry(hours(1024))]), nextskin(cron=[entry(hours(1025))]), "NSP205"),
    ("Cogover D6: time zone of 64", cogover(timed(timezone="UTC")), cogover(timed(timezone="U" * 65)), "NSP206"),
]


@pytest.mark.parametrize(("right", "wrong", "code"), [edge[1:] for edge in EDGES], ids=[edge[0] for edge in EDGES])
def test_a_limit_is_met_exactly(right: dict[str, Any], wrong: dict[str, Any], code: str) -> None:
    assert codes(right) == []
    assert codes(wrong) == [code]


@pytest.mark.parametrize(("plugin", "job"), [(64, 52), (52, 64), (60, 56)])
def test_a_qualified_name_of_128_characters_is_taken(plugin: int, job: int) -> None:
    """spec/nextskin.md D4: "plugin:" and ":job:" are 12 of them."""
    assert codes(nextskin(id="i" * plugin, jobs={"j" * job: {}})) == []


@pytest.mark.parametrize(("plugin", "job"), [(64, 53), (53, 64), (60, 57)])
def test_a_qualified_name_of_129_characters_is_refused(plugin: int, job: int) -> None:
    problem = only(nextskin(id="i" * plugin, jobs={"j" * job: {}}))
    assert (problem.code, problem.pointer, problem.target) == ("NSP103", "/jobs/" + "j" * job, "key")
    assert "129 characters; at most 128" in problem.message
    assert problem.hint == "shorten the plugin id or the job name by 1 character"


def test_cogover_has_no_qualified_name() -> None:
    assert codes(cogover({"key": "a" * 100}, id="i" * 64)) == []


def test_the_cron_limit_counts_white_space_once() -> None:
    """spec/cogover.md D6: the normalised expression counts; 128 after normalising, whatever stands around it."""
    spaced = "   " + hours(128).replace(" ", "  \t ") + "\t\t"
    assert codes(cogover(timed(spaced))) == []
    assert codes(cogover(timed(spaced.replace("0  \t *", "00  \t *", 1)))) == ["NSP205"]
    padded = " " * 2000 + "0 3 * * *"
    assert codes(nextskin(cron=[entry(padded)])) == codes(cogover(timed(padded))) == []


def test_a_long_expression_with_a_fault_has_both() -> None:
    """spec/cron.md G1: the length is reported apart from the grammar."""
    assert codes(cogover(timed(hours(129)[:-1] + "8"))) == ["NSP203", "NSP205"]


GOOD_NAMES = ["a", "Z", "expire", "a1", "a.b", "a_b", "a-b", "expire-all_2.now", "A" * 64]
BAD_NAMES = [
    "",
    "1",
    "1a",
    "_a",
    "a_",
    "a..b",
    "a.-b",
    ".a",
    "a b",
    " a",
    "a ",
    "a\n",
    "\na",
    "a\r\n",
    "ä",
    "a/b",
    "a~b",
    "ａ",
    "a\x00",
    "任务",
]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_nextskin_takes_a_job_name(name: str) -> None:
    assert codes(nextskin_name(name)) == []


@pytest.mark.parametrize("name", BAD_NAMES)
def test_nextskin_refuses_a_job_name(name: str) -> None:
    """spec/nextskin.md D3: the whole string; a trailing line feed does not match."""
    problem = only(nextskin(jobs={name: {}}))
    assert (problem.code, problem.target) == ("NSP101", "key")
    assert problem.message.isprintable()


@pytest.mark.parametrize("name", ["a", "A", "recalc_totals", "a_", "a__b", "Z9_", "a" * 100])
def test_cogover_takes_a_key(name: str) -> None:
    assert codes(cogover({"key": name})) == []


@pytest.mark.parametrize("name", ["", "1", "_a", "a-b", "a.b", "a b", "a\n", "ä", "a" * 50 + "-", "a\n" * 2])
def test_cogover_refuses_a_key(name: str) -> None:
    """spec/cogover.md D3."""
    problem = only(cogover({"key": name}))
    assert (problem.code, problem.pointer, problem.target) == ("NSP101", "/jobs/0/key", "value")


@pytest.mark.parametrize("name", ["a", "7", "cdn-refresh", "a.b_c-d", "order_automation", "A" * 64])
def test_an_id_is_taken(name: str) -> None:
    assert codes(nextskin(id=name)) == codes(cogover(id=name)) == []


@pytest.mark.parametrize("name", ["", "a\n", "-a", "a-", "a--b", "a b", "ä", "a/b", "../a"])
def test_an_id_is_refused(name: str) -> None:
    """spec/nextskin.md D9."""
    assert found(nextskin(id=name)) == found(cogover(id=name)) == [("NSP110", "/id")]


def test_a_name_that_is_bad_and_too_long_has_two_faults() -> None:
    assert codes(nextskin(jobs={"1" * 65: {}})) == ["NSP101", "NSP102"]
    assert codes(cogover({"key": "1" * 101})) == ["NSP101", "NSP102"]


def test_a_bad_name_gets_a_good_one_like_it() -> None:
    assert only(nextskin(jobs={"expire all": {}})).hint == 'for example "expire-all"'
    assert only(nextskin(jobs={"_expire": {}})).hint == 'for example "expire"'
    assert only(cogover({"key": "sync-order"})).hint == 'for example "sync_order"'
    for name in ("任务", "réindex", "1st", "", "--"):
        assert only(nextskin(jobs={name: {}})).hint is None


def test_seconds_meant_as_milliseconds_are_recognised() -> None:
    assert only(cogover_job(timeoutMs=30)).hint == "30 seconds are 30000"
    assert only(cogover_job(timeoutMs=70)).hint is None


def test_numbers_far_out_of_range_are_named_without_their_digits() -> None:
    problem = only(nextskin_job(maxAttempts=-(10**6000)))
    assert problem.code == "NSP104"
    assert problem.message == "maxAttempts of about 6001 digits is out of range: 1 to 20"


SAME = [("sync", "sync"), ("sync", "SYNC"), ("Sync_Order", "sync_order")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_cogover_keys_are_unique_without_regard_to_case(one: str, other: str) -> None:
    """spec/cogover.md D3."""
    problem = only(cogover({"key": one}, {"key": "other"}, {"key": other}))
    assert (problem.code, problem.pointer) == ("NSP107", "/jobs/2/key")
    assert "/jobs/0" in problem.message


def test_each_further_use_of_a_key_is_a_finding() -> None:
    assert found(cogover({"key": "a"}, {"key": "A"}, {"key": "a"})) == [("NSP107", "/jobs/1/key"), ("NSP107", "/jobs/2/key")]


def test_nextskin_names_differ_by_case() -> None:
    assert codes(nextskin(jobs={"sync": {}, "SYNC": {}})) == []


def test_jobs_without_a_key_count_as_jobs() -> None:
    raw = many(49)
    raw["jobs"] += [{}, 3]
    assert sorted(codes(raw)) == ["NSP007", "NSP008", "NSP108"]
