"""The frozen manifest: normalised, in one key order, reproducible, detached, hashable, picklable (spec/manifest.md M1-M4)."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifest_samples import COGOVER, NEXTSKIN, cogover, entry, nextskin, problems, timed
from nsplugin.errors import DefinitionError
from nsplugin.manifest import MANIFEST_VERSION, JobSpec, Manifest, RouteSpec, ScheduleSpec, normalised
from nsplugin.pointers import UNKNOWN

CDN_REFRESH = """\
{
  "manifestVersion": 1,
  "platform": "nextskin",
  "id": "cdn-refresh",
  "version": "1.4.0",
  "entry": "plugin:plugin",
  "capabilities": [
    "storage.kv"
  ],
  "jobs": {
    "expire": {
      "maxAttempts": 5,
      "timeoutMs": 60000,
      "payloadSchema": {
        "type": "object"
      }
    }
  },
  "cron": [
    {
      "schedule": "0 3 * * *",
      "job": "expire",
      "payload": {
        "key": "daily-cache"
      }
    }
  ],
  "routes": {
    "POST /expire": {
      "auth": "user"
    }
  }
}
"""

ORDER_AUTOMATION = """\
{
  "manifestVersion": 1,
  "platform": "cogover",
  "id": "order_automation",
  "entry": "main:jobs",
  "jobs": [
    {
      "key": "recalc_totals",
      "name": "Tính lại tổng",
      "timeoutMs": 60000,
      "maxAttempts": 5
    },
    {
      "key": "cancel_stale_orders",
      "timeoutMs": 30000,
      "maxAttempts": 5,
      "schedule": {
        "cron": "0 2 * * *",
        "timezone": "Asia/Ho_Chi_Minh"
      }
    }
  ]
}
"""


def cdn_refresh() -> dict[str, Any]:
    """The first manifest as an author may have given it: unordered, without defaults."""
    return {
        "routes": {"POST /expire": {"auth": "user"}},
        "cron": [{"payload": {"key": "daily-cache"}, "job": "expire", "schedule": " 0  3\t* * * "}],
        "jobs": {"expire": {"payloadSchema": {"type": "object"}}},
        "capabilities": ["storage.kv"],
        "entry": "plugin:plugin",
        "version": "1.4.0",
        "id": "cdn-refresh",
        "platform": "nextskin",
        "manifestVersion": 1.0,
    }


def order_automation() -> dict[str, Any]:
    return {
        "jobs": [
            {"timeoutMs": 60_000, "key": "recalc_totals", "name": "Tính lại tổng"},
            {"schedule": {"timezone": "Asia/Ho_Chi_Minh", "cron": "0  2 * * *"}, "key": "cancel_stale_orders"},
        ],
        "id": "order_automation",
        "entry": "main:jobs",
        "platform": "cogover",
        "manifestVersion": 1,
    }


def test_a_nextskin_manifest_is_written_with_defaults_in_the_order_of_the_specification() -> None:
    """M1, M3: two-space indent, one line feed at the end, UTF-8 without BOM, non-ASCII kept."""
    assert Manifest.of(cdn_refresh(), NEXTSKIN).to_bytes().decode() == CDN_REFRESH


def test_a_cogover_manifest_is_written_so_too() -> None:
    assert Manifest.of(order_automation(), COGOVER).to_bytes().decode() == ORDER_AUTOMATION


@pytest.mark.parametrize("text", [CDN_REFRESH, ORDER_AUTOMATION])
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    raw = json.loads(text)
    platform = NEXTSKIN if raw["platform"] == "nextskin" else COGOVER
    assert normalised(raw, platform) == raw
    assert Manifest.of(raw, platform).to_bytes().decode() == text
    assert problems(raw) == []


def test_what_was_not_given_and_has_no_default_is_absent() -> None:
    """M1; spec/cogover.md D8."""
    assert set(normalised(nextskin(jobs={}), NEXTSKIN)) == {"manifestVersion", "platform", "id", "entry", "jobs"}
    assert normalised(cogover({"key": "sync"}), COGOVER)["jobs"] == [{"key": "sync", "timeoutMs": 30_000, "maxAttempts": 5}]


def test_a_payload_is_always_present() -> None:
    """M1: {} when none was given; null stays null."""
    entries = normalised(nextskin(cron=[entry(), entry(payload=None), entry(payload=[])]), NEXTSKIN)["cron"]
    assert [item["payload"] for item in entries] == [{}, None, []]


ZONES = [
    ({}, "UTC"),
    ({"timezone": "UTC+7"}, "UTC+07:00"),
    ({"timezone": "UTC-00:00"}, "UTC"),
    ({"timezone": "Asia/Saigon"}, "Asia/Saigon"),
]


@pytest.mark.parametrize(("given_zone", "stored"), ZONES)
def test_time_zones_take_their_stored_form(given_zone: dict[str, str], stored: str) -> None:
    """M1; spec/cogover.md D6; spec/cron.md F4."""
    value = normalised(cogover(timed("0\t2  * * *", **given_zone)), COGOVER)
    assert value["jobs"][0]["schedule"] == {"cron": "0 2 * * *", "timezone": stored}


def test_the_authors_order_of_jobs_and_payload_keys_is_kept() -> None:
    raw = nextskin(jobs={"b": {}, "a": {}}, cron=[entry(job="b", payload={"z": 1, "y": {"b": 1, "a": 2}})])
    value = normalised(raw, NEXTSKIN)
    assert list(value["jobs"]) == ["b", "a"]
    assert json.dumps(value["cron"][0]["payload"]) == '{"z": 1, "y": {"b": 1, "a": 2}}'


def test_an_integral_float_becomes_an_integer() -> None:
    """spec/nextskin.md D8."""
    value = normalised(nextskin(jobs={"expire": {"maxAttempts": 5.0, "timeoutMs": 1e3}}), NEXTSKIN)
    assert str(value["jobs"]["expire"]) == "{'maxAttempts': 5, 'timeoutMs': 1000}"


class Name(StrEnum):
    EXPIRE = "expire"


def test_subclasses_of_python_strings_become_plain_ones() -> None:
    """M2: detached, and data alone."""
    raw = nextskin(id=Name.EXPIRE, jobs={Name.EXPIRE: {}}, cron=[entry(job=Name.EXPIRE)])
    manifest = Manifest.of(raw, NEXTSKIN, origin="python")
    kinds = {type(manifest.id), *map(type, manifest.value["jobs"]), type(manifest.value["cron"][0]["job"])}
    assert kinds == {str}


def test_a_manifest_answers_what_hosts_ask() -> None:
    manifest = Manifest.of(cdn_refresh(), NEXTSKIN)
    assert (manifest.id, manifest.version, manifest.entry) == ("cdn-refresh", "1.4.0", "plugin:plugin")
    assert (manifest.platform, manifest.capabilities) == (NEXTSKIN, ("storage.kv",))
    assert manifest.jobs == (
        JobSpec(name="expire", title=None, max_attempts=5, timeout_ms=60_000, payload_schema={"type": "object"}),
    )
    assert manifest.schedules == (
        ScheduleSpec(
            index=0,
            pointer="/cron/0",
            expression="0 3 * * *",
            job="expire",
            payload={"key": "daily-cache"},
            timezone=None,
        ),
    )
    assert manifest.routes == (RouteSpec(method="POST", path="/expire", auth="user"),)
    assert manifest.value["manifestVersion"] == MANIFEST_VERSION == 1


def test_a_cogover_manifest_answers_the_same_questions() -> None:
    manifest = Manifest.of(order_automation(), COGOVER)
    assert (manifest.version, manifest.capabilities, manifest.routes) == (None, (), ())
    assert [(job.name, job.title, job.timeout_ms, job.payload_schema) for job in manifest.jobs] == [
        ("recalc_totals", "Tính lại tổng", 60_000, None),
        ("cancel_stale_orders", None, 30_000, None),
    ]
    [schedule] = manifest.schedules
    assert (schedule.pointer, schedule.job, schedule.payload) == ("/jobs/1/schedule", "cancel_stale_orders", None)
    assert (schedule.expression, schedule.timezone) == ("0 2 * * *", "Asia/Ho_Chi_Minh")


def test_a_manifest_is_frozen_and_detached() -> None:
    """M2."""
    raw = cdn_refresh()
    manifest = Manifest.of(raw, NEXTSKIN)
    before = manifest.to_bytes()
    raw["cron"][0]["payload"]["key"] = "changed"
    raw["jobs"]["expire"]["payloadSchema"]["type"] = "array"
    assert manifest.to_bytes() == before
    for change in (
        lambda: manifest.value.update(id="other"),
        lambda: manifest.value["cron"].append({}),
        lambda: manifest.value["cron"][0]["payload"].clear(),
        lambda: manifest.jobs[0].payload_schema.pop("type"),
        lambda: setattr(manifest, "value", {}),
    ):
        with pytest.raises((TypeError, AttributeError)):
            change()
    assert manifest.to_bytes() == before


def test_a_manifest_is_hashable_comparable_and_picklable() -> None:
    """M2."""
    manifest, same = Manifest.of(cdn_refresh(), NEXTSKIN), Manifest.of(json.loads(CDN_REFRESH), NEXTSKIN)
    other = Manifest.of({**cdn_refresh(), "version": "1.4.1"}, NEXTSKIN)
    assert manifest == same != other
    assert len({manifest, same, other}) == 2
    for twin in (pickle.loads(pickle.dumps(manifest)), copy.deepcopy(manifest)):
        assert twin == manifest and hash(twin) == hash(manifest)
        assert twin.platform is NEXTSKIN and twin.to_bytes() == manifest.to_bytes()
    assert {manifest.jobs, same.jobs} and {manifest.schedules} and {manifest.routes}


def test_the_digest_is_that_of_the_canonical_form() -> None:
    """M4: RFC 8785, whatever order the author gave."""
    manifest = Manifest.of(cdn_refresh(), NEXTSKIN)
    assert manifest.digest == Manifest.of(json.loads(CDN_REFRESH), NEXTSKIN).digest
    import hashlib

    plain = json.dumps(json.loads(CDN_REFRESH), sort_keys=True, separators=(",", ":")).encode()
    assert manifest.digest == "sha256:" + hashlib.sha256(plain).hexdigest()


def test_an_error_carries_every_problem_and_warnings_pass() -> None:
    raw = nextskin(jobs={"1": {"maxAttempts": 0}}, cron=[entry(job="1")], colour="red")
    with pytest.raises(DefinitionError) as error:
        Manifest.of(raw, NEXTSKIN)
    assert [problem.code for problem in error.value.problems] == ["NSP006", "NSP101", "NSP104"]
    for problem in error.value.problems:
        assert problem.code in str(error.value) and problem.message in str(error.value)
    assert Manifest.of(nextskin(cron=[entry("0 3 13 * 5")]), NEXTSKIN).schedules


def test_what_is_unknown_cannot_be_frozen() -> None:
    for raw in (
        nextskin(id=UNKNOWN),
        nextskin(cron=[UNKNOWN]),
        nextskin(cron=[entry(payload={"a": [UNKNOWN]})]),
        nextskin(jobs={"expire": {"maxAttempts": UNKNOWN}}),
    ):
        with pytest.raises(ValueError, match="not known without running the plugin"):
            Manifest.of(raw, NEXTSKIN)


names = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}", fullmatch=True)
SAFE = 2**53 - 1
payloads = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(-SAFE, SAFE) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(names, min_size=1, max_size=4, unique=True), payloads)
def test_what_is_written_is_read_as_the_same_manifest(jobs: list[str], payload: Any) -> None:
    """M3: a round trip through the file changes nothing."""
    raw = nextskin(jobs={name: {} for name in jobs}, cron=[entry(job=jobs[0], payload=payload)])
    manifest = Manifest.of(raw, NEXTSKIN)
    again = Manifest.of(json.loads(manifest.to_bytes()), NEXTSKIN)
    assert again.to_bytes() == manifest.to_bytes() and again.digest == manifest.digest
    assert json.loads(manifest.to_bytes())["cron"][0]["payload"] == payload


SCRIPT = """
import json, sys
from nsplugin.manifest import Manifest
from nsplugin.platforms import load
raw = json.loads(sys.stdin.read())
manifest = Manifest.of(raw, load(raw["platform"]))
sys.stdout.buffer.write(manifest.to_bytes() + manifest.digest.encode())
"""


def test_the_bytes_do_not_depend_on_hash_seed_locale_or_folder(tmp_path: Path) -> None:
    """M3."""
    outputs = set()
    for seed, locale, folder in (("0", "C", tmp_path), ("1", "C.UTF-8", Path.cwd()), ("424242", "POSIX", tmp_path)):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONUTF8": "0"}
        source = json.dumps(order_automation())
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=source.encode(), env=environment, cwd=folder, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    [output] = outputs
    assert output.decode().startswith(ORDER_AUTOMATION)


def test_manifests_need_no_pydantic() -> None:
    """Decision 0002: pydantic takes half of the start-up budget."""
    script = "import sys, nsplugin.manifest; print({'pydantic', 'jsonschema', 'rich', 'asyncio'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "set()\n"
