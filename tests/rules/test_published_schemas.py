"""The published JSON Schemas: up to date, valid, and no stricter or laxer than structure and limits are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import nsplugin_schemas
from manifest_samples import codes, cogover, entry, nextskin, timed
from nsplugin.json_schemas import MODELS, rendered, schema
from nsplugin.manifest import Manifest
from nsplugin.platforms import every, load
from nsplugin_cli.catalogue import rules
from nsplugin_cli.rule_names import code_of


@pytest.mark.parametrize("name", MODELS)
def test_the_file_is_what_the_models_make(name: str) -> None:
    """spec/manifest.md: a test fails when they drift; make update writes them anew."""
    assert nsplugin_schemas.text(name).encode() == rendered(name)


def test_each_model_is_published_under_its_name() -> None:
    assert nsplugin_schemas.names() == tuple(sorted(MODELS)) == ("cogover-manifest", "config", "nextskin-manifest", "report")
    assert nsplugin_schemas.load("report") == schema("report")
    for lookup in (nsplugin_schemas.load, nsplugin_schemas.text):
        with pytest.raises(KeyError):
            lookup("../config")


def test_a_loaded_schema_is_the_callers_own() -> None:
    nsplugin_schemas.load("config")["properties"].clear()
    assert nsplugin_schemas.load("config")["properties"]


@pytest.mark.parametrize("name", MODELS)
def test_a_schema_is_one_of_draft_2020_12(name: str) -> None:
    loaded = nsplugin_schemas.load(name)
    Draft202012Validator.check_schema(loaded)
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "Generated" in loaded["$comment"] and loaded["title"] and loaded["description"]


def _objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *schema.get("$defs", {}).values()]


@pytest.mark.parametrize("name", MODELS)
def test_editors_get_a_description_of_every_key(name: str) -> None:
    loaded = nsplugin_schemas.load(name)
    for holder in _objects(loaded):
        for key, item in holder["properties"].items():
            described = item.get("description") or loaded["$defs"][item["$ref"].rpartition("/")[2]]["description"]
            assert described.endswith("."), key


@pytest.mark.parametrize("platform", every(), ids=lambda platform: platform.name)
def test_limits_are_the_platforms(platform: Any) -> None:
    loaded = nsplugin_schemas.load(f"{platform.name}-manifest")
    job = next(holder for holder in _objects(loaded) if holder["title"] == f"{platform.title} job")
    attempts, time_out = job["properties"]["maxAttempts"], job["properties"]["timeoutMs"]
    for item, limit in ((attempts, platform.max_attempts), (time_out, platform.timeout_ms)):
        assert (item["minimum"], item["maximum"], item["default"]) == (limit.min, limit.max, limit.default)
    assert loaded["properties"]["id"]["maxLength"] == platform.plugin_id.max_length
    assert list(loaded["properties"]) == list(platform.layout.fields)


def test_no_default_is_null() -> None:
    """A key that may be left out is not one that may be null (spec/nextskin.md D8)."""
    for name in ("nextskin-manifest", "cogover-manifest", "config"):
        for holder in _objects(nsplugin_schemas.load(name)):
            assert all(item.get("default", 0) is not None for item in holder["properties"].values())


ALIKE: list[dict[str, Any]] = [
    nextskin(),
    nextskin(cron=[entry(), entry("  5\t4 * *  0,6 ", payload=None)], capabilities=["storage.kv"], version="1"),
    nextskin(routes={"POST /expire": {"auth": "user"}}),
    cogover(timed(timezone="UTC+7"), {"key": "B", "name": "", "timeoutMs": 1000, "maxAttempts": 10}),
    nextskin(id="a\n"),
    nextskin(id="a" * 65),
    nextskin(jobs={"expire\n": {}}),
    nextskin(jobs={"1": {}}),
    nextskin(jobs={"expire": {"maxAttempts": 21}}),
    nextskin(jobs={"expire": {"timeoutMs": 0}}),
    nextskin(jobs={"expire": {"maxAttempts": True}}),
    nextskin(jobs={"expire": {"maxAttempts": 5.0}}),
    nextskin(jobs={"expire": {"maxAttempts": None}}),
    nextskin(jobs={"expire": {"maxAttempt": 5}}),
    nextskin(cron=[entry("0 0 3 * * *")]),
    nextskin(cron=[entry("0 3 * * *\n")]),
    nextskin(cron=[entry("0 3 * * MON")]),
    nextskin(cron=[{"schedule": "0 3 * * *"}]),
    nextskin(cron=[entry(timezone="UTC")]),
    nextskin(routes={"post /expire": {"auth": "user"}}),
    nextskin(routes={"POST /expire\n": {"auth": "user"}}),
    nextskin(routes={"POST /expire": {"auth": "admin"}}),
    nextskin(manifestVersion=2),
    cogover({"key": "a-b"}),
    cogover({"key": "a\n"}),
    cogover({"key": "a" * 101}),
    cogover({"key": "a", "name": "é" * 251}),
    cogover(*({"key": f"a{number}"} for number in range(51))),
    cogover(timed(timezone="U" * 65)),
]


@pytest.mark.parametrize("raw", ALIKE, ids=range(len(ALIKE)))
def test_an_editor_and_the_rules_say_the_same(raw: dict[str, Any]) -> None:
    valid = Draft202012Validator(nsplugin_schemas.load(f"{raw['platform']}-manifest")).is_valid(raw)
    assert valid == (codes(raw) == [])


def test_a_built_manifest_fits_its_schema() -> None:
    for raw in (nextskin(cron=[entry()]), cogover(timed())):
        manifest = Manifest.of(raw, load(raw["platform"]))
        Draft202012Validator(nsplugin_schemas.load(f"{raw['platform']}-manifest")).validate(manifest.value)


FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*/*/expected.json"))


def test_every_report_of_the_fixtures_fits_the_report_schema() -> None:
    reports = Draft202012Validator(nsplugin_schemas.load("report"))
    read = [report for path in FIXTURES for report in _reports(path.read_text(encoding="utf-8"))]
    assert len(read) >= len(FIXTURES) > 40
    assert [str(error) for report in read for error in reports.iter_errors(report)] == []


def _reports(transcript: str) -> list[Any]:
    """The JSON objects between the command lines and exit codes of a transcript."""
    blocks = re.findall(r"^(\{$.*?^\})$", transcript, re.MULTILINE | re.DOTALL)
    return [json.loads(block) for block in blocks]


def test_a_report_and_a_project_file_fit_theirs() -> None:
    """spec/cli.md: the JSON object of the reports, and the project file."""
    finding = {
        "code": "NSP101",
        "name": "job-name-invalid",
        "severity": "error",
        "message": "…",
        "hint": "…",
        "path": "plugin.py",
    }
    finding |= {"pointer": "/jobs/1bad", "line": 12, "column": 9, "endLine": 12, "endColumn": 15}
    schedule = {"pointer": "/cron/0", "expression": "…", "timezone": "…", "nextFires": ["2026-12-01T19:00:00Z"]}
    plugin = {
        "id": "…",
        "platform": "…",
        "manifest": "dist/plugin.manifest.json",
        "digest": "sha256:…",
        "schedules": [schedule],
    }
    report = {"version": 1, "command": "lint", "summary": {"files": 1, "errors": 1, "warnings": 0}, "diagnostics": [finding]}
    reports = Draft202012Validator(nsplugin_schemas.load("report"))
    assert reports.is_valid({**report, "plugins": [plugin]})
    assert not reports.is_valid({**report, "diagnostics": [{**finding, "severity": "bad"}]})
    projects = Draft202012Validator(nsplugin_schemas.load("config"))
    assert projects.is_valid({"platform": "cogover", "select": ["NSP2"], "per-file-ignores": {"tests/*": ["NSP401"]}})
    assert not projects.is_valid({"platforms": "cogover"})


@pytest.mark.parametrize("key", ["select", "ignore", "per-file-ignores"])
def test_a_project_file_may_name_rules_as_lint_takes_them(key: str) -> None:
    projects = Draft202012Validator(nsplugin_schemas.load("config"))

    def fits(written: str) -> bool:
        return projects.is_valid({key: {"a.py": [written]} if key == "per-file-ignores" else [written]})

    taken = [form for rule in rules() for form in (rule.code, rule.code.lower(), rule.code[:5], rule.name, rule.name.upper())]
    assert [each for each in (*taken, "NSP", "n") if code_of(each) is None or not fits(each)] == []
    assert [each for each in ("", "E501", "NSP1011", "NSP101 ", "cron_syntax", "-", "cron-") if fits(each)] == []
