"""Every number of a platform stands in its TOML, is the one of the specification, and stands nowhere else."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli

import source_tree
from nsplugin import platforms
from nsplugin.platforms import NAMES, every, load

FOLDER = Path(platforms.__file__).parent

NEXTSKIN = {
    "plugin_id.max_length": (64, "D9: a plugin id matches the pattern, 1-64 characters"),
    "job_name.max_length": (64, "D3: a job name has at most 64 characters"),
    "qualified_name.max_length": (128, "D4: plugin:{id}:job:{name} has at most 128 characters"),
    "max_attempts.min": (1, "D5: maxAttempts is a safe integer 1-20"),
    "max_attempts.max": (20, "D5: maxAttempts is a safe integer 1-20"),
    "max_attempts.default": (5, "D5: default 5"),
    "timeout_ms.min": (1, "D6: timeoutMs is a safe integer 1-600000"),
    "timeout_ms.max": (600_000, "D6: timeoutMs is a safe integer 1-600000"),
    "timeout_ms.default": (60_000, "D6: default 60000"),
    "payload.max_bytes": (65_536, "E2: at most 64 KiB (65536 bytes of UTF-8)"),
    "cron.max_length": (1024, "G1: at most 128 characters on Cogover, 1024 on NextSkin"),
    "cron.time_zone_max_length": (64, "F4: a path-like or absurd id (65+ characters) is refused: 64 are taken"),
    "enqueue.delay_unit_ms": (1000, "E3: delaySec counts seconds of 1000 ms"),
    "enqueue.delay_max": (2_592_000, "E3: delaySec is an integer 0-2592000"),
    "enqueue.key_max_length": (255, "E4: dedupeKey has 1-255 Unicode code points"),
    "enqueue.max_per_invocation": (0, "0: the source names no limit"),
    "enqueue.max_unfinished": (0, "0: the source names no limit"),
    "retry.base_ms": (10_000, "X3: min(10000 * 2**(n-1), 3600000) * (0.8 + 0.4 * random)"),
    "retry.factor": (2, "X3: min(10000 * 2**(n-1), 3600000) * (0.8 + 0.4 * random)"),
    "retry.cap_ms": (3_600_000, "X3: min(10000 * 2**(n-1), 3600000) * (0.8 + 0.4 * random)"),
    "retry.jitter_low": (0.8, "X3: min(10000 * 2**(n-1), 3600000) * (0.8 + 0.4 * random)"),
    "retry.jitter_span": (0.4, "X3: min(10000 * 2**(n-1), 3600000) * (0.8 + 0.4 * random)"),
    "retention.succeeded_days": (0, "A3: only dead letters are kept; 0 is dropped when done"),
    "retention.dead_days": (30, "A3: dead letters are kept 30 days"),
    "retention.error_max_length": (500, "A5: last_error has at most 500 characters"),
}
"""Path in the TOML: the value, and the requirement that names it (spec/nextskin.md, spec/cron.md)."""

COGOVER = {
    "plugin_id.max_length": (64, "decision: as NextSkin D9, 1-64 characters"),
    "job_name.max_length": (100, "D3: ^[A-Za-z][A-Za-z0-9_]{0,99}$ is 1 and 99 characters, so 100"),
    "display_name.max_length": (250, "D4: name has at most 250 characters"),
    "max_attempts.min": (1, "D5: maxAttempts is an integer 1-10"),
    "max_attempts.max": (10, "D5: maxAttempts is an integer 1-10"),
    "max_attempts.default": (5, "D5: default 5"),
    "timeout_ms.min": (1000, "D5: timeoutMs is an integer 1000-60000"),
    "timeout_ms.max": (60_000, "D5: timeoutMs is an integer 1000-60000"),
    "timeout_ms.default": (30_000, "D5: default 30000"),
    "jobs.max_count": (50, "D7: at most 50 jobs a project"),
    "payload.max_bytes": (65_536, "E3: at most 65536 UTF-8 bytes of its JSON.stringify form"),
    "cron.max_length": (128, "D6: the normalised expression has at most 128 characters"),
    "cron.time_zone_max_length": (64, "D6: timezone has at most 64 characters"),
    "enqueue.delay_unit_ms": (1, "E4: delayMs counts single milliseconds: 1"),
    "enqueue.delay_max": (2_592_000_000, "E4: delayMs is an integer 0-2592000000"),
    "enqueue.key_max_length": (128, "E5: [A-Za-z0-9][A-Za-z0-9._:-]{0,127} is 1 and 127 characters, so 128"),
    "enqueue.max_per_invocation": (50, "E8: at most 50 enqueues an invocation"),
    "enqueue.max_unfinished": (10_000, "E8: at most 10000 runs waiting or running a project"),
    "retry.base_ms": (7_000, "X4: wait n is 7 s, 7000 ms, times 2**(n-1)"),
    "retry.factor": (2, "X4: wait n is 7 s * 2**(n-1)"),
    "retry.cap_ms": (1_792_000, "X4: the ninth wait is 7000 * 2**8 = 1792000 ms, about 30 min"),
    "retry.jitter_low": (0.9, "X4: 10 % less is 0.9"),
    "retry.jitter_span": (0.2, "X4: from 10 % less to 10 % more is 0.2"),
    "retention.succeeded_days": (7, "E6: run history is kept 7 days"),
    "retention.dead_days": (7, "E6: run history is kept 7 days"),
    "retention.error_max_length": (500, "decision: as NextSkin A5, 500 characters"),
    "automation.max_count": (10, "X6: the full budget of 10 steps"),
    "run_id.max_length": (15, "X7: a run id is 15 upper-case letters or digits that begin with TSJ"),
}
"""Path in the TOML: the value, and the requirement that names it (spec/cogover.md)."""

QUOTED = {"nextskin": NEXTSKIN, "cogover": COGOVER}


def _toml(name: str) -> dict[str, Any]:
    return tomli.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}" if path else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_of_stored_values_are_decisions_alone(name: str) -> None:
    """The specification names no number for them, so that the table above has none."""
    assert _toml(name)["storage"]["source"].startswith("decision: ")


@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_the_toml_is_that_of_the_specification(name: str) -> None:
    numbers = {path: value for path, value in _numbers(_toml(name)) if not path.startswith("storage.")}
    assert numbers == {path: value for path, (value, _) in QUOTED[name].items()}


@pytest.mark.parametrize("name", NAMES)
def test_each_number_is_named_by_its_requirement(name: str) -> None:
    for path, (value, sentence) in QUOTED[name].items():
        assert re.search(rf"(?<![\d.]){re.escape(str(value))}(?![\d])", sentence), path


@pytest.mark.parametrize("name", NAMES)
def test_each_section_cites_its_source(name: str) -> None:
    sections = {key: value for key, value in _toml(name).items() if isinstance(value, dict)}
    uncited = [key for key, section in sections.items() if not section.get("source")]
    assert sorted(uncited) == ["key_hints", "key_synonyms", "layout"]
    for key, section in sections.items():
        if key not in uncited:
            assert re.search(r"spec/\w+\.md|decision: ", section["source"]), key


PATTERNS = {
    ("nextskin", "plugin_id"): r"^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$",
    ("cogover", "plugin_id"): r"^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$",
    ("nextskin", "job_name"): r"^[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*$",
    ("cogover", "job_name"): r"^[A-Za-z][A-Za-z0-9_]{0,99}$",
    ("cogover", "run_id"): r"^TSJ[A-Z0-9]{12}$",
}
"""The patterns as the specification writes them."""

WORDS = [
    "",
    "a",
    "1",
    "aB9",
    "a.b",
    "a_b",
    "a-b",
    "a..b",
    "a._b",
    ".a",
    "a.",
    "_a",
    "a_",
    "a__b",
    "9a",
    "a b",
    "é",
    "a\n",
    "a\u2028",
    "TSJ",
]
WORDS += ["a" * 99, "a" * 100, "a" * 101, "TSJ0123456789AB", "TSJ0123456789Ab", "TSJ0123456789ABC", "Ａ"]


@pytest.mark.parametrize(("platform", "section"), PATTERNS)
def test_each_pattern_takes_what_the_specification_takes(platform: str, section: str) -> None:
    limit = getattr(load(platform), section)
    whole = re.compile(PATTERNS[platform, section].removesuffix("$") + r"\Z")
    for word in WORDS:
        within = len(word) <= limit.max_length
        assert (limit.matches(word) and within) == (whole.match(word) is not None and within), word


def test_the_cogover_job_key_has_the_length_that_the_pattern_has() -> None:
    limit = load("cogover").job_name
    assert re.fullmatch(PATTERNS["cogover", "job_name"], "a" * limit.max_length)
    assert not re.fullmatch(PATTERNS["cogover", "job_name"], "a" * (limit.max_length + 1))


def test_policies_and_words_are_the_specifications() -> None:
    nextskin, cogover = every()
    assert (nextskin.cron.catch_up, nextskin.cron.overlap, nextskin.cron.clock_change) == ("once", "skip", "defer-once")
    assert (cogover.cron.catch_up, cogover.cron.overlap, cogover.cron.clock_change) == ("none", "allow", "every-match")
    assert (nextskin.cron.time_zone, cogover.cron.time_zone, cogover.cron.time_zone_default) == ("site", "schedule", "UTC")
    assert (nextskin.payload.absent_value, cogover.payload.absent_value) == ({}, None)
    assert (nextskin.enqueue.key_scope, cogover.enqueue.key_scope) == ("unfinished", "stored")
    assert (nextskin.retry.policy, cogover.retry.policy) == ("every-failure", "retryable-only")
    assert (nextskin.retention.on_disable, cogover.retention.on_disable) == ("keep-tasks", "drop-schedules")
    assert nextskin.job_name.case_sensitive and not cogover.job_name.case_sensitive
    assert len(cogover.handlers.job) == 17


def test_a_platform_is_one_object_hashable_and_picklable() -> None:
    for platform in every():
        assert load(platform.name) is platform
        assert pickle.loads(pickle.dumps(platform)) is platform
        assert copy.deepcopy(platform) is platform
        assert hash(platform) == hash(load(platform.name))
    with pytest.raises(KeyError):
        load("nextskins")


def test_hints_and_synonyms_are_about_keys_that_do_not_exist_there() -> None:
    """A hint for a key that is right would never be seen; a synonym must lead to a right one."""
    from nsplugin_schemas import load as load_schema

    for platform in every():
        schema = load_schema(f"{platform.name}-manifest")
        places = {"manifest": schema["properties"]}
        places |= {item["title"].split()[-1]: item["properties"] for item in schema["$defs"].values()}
        for place, hints in platform.key_hints.items():
            assert not set(hints) & set(places[place]), place
        for place, synonyms in platform.key_synonyms.items():
            assert not set(synonyms) & (set(places[place]) | set(platform.key_hints.get(place, {}))), place
            assert set(synonyms.values()) <= set(places[place]), place


GENERIC = {250, 255, 500, 1000, 1024, 10_000, 60_000, 3_600_000}
"""Numbers that mean other things as well (an HTTP status, a minute in milliseconds): their use elsewhere proves nothing."""

ELSEWHERE = {("nsplugin.runtime.crypto", 65_536)}
"""Equal by chance: the most bytes that Web Crypto's getRandomValues gives at once."""


def _own_numbers() -> set[float]:
    return {value for quoted in QUOTED.values() for value, _ in quoted.values() if value > 128} - GENERIC


def test_no_number_of_a_platform_stands_in_code() -> None:
    own = _own_numbers()
    assert {600_000, 65_536, 2_592_000} <= own
    strays = [
        f"{module.where}:{node.lineno}: {node.value}"
        for module in source_tree.modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
        if node.value in own and (module.name, node.value) not in ELSEWHERE
        if "0x" not in ast.get_source_segment(module.path.read_text(encoding="utf-8"), node)  # a code point or a mask
    ]
    assert strays == []
