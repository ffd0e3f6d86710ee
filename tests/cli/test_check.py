"""``check``: the pre-install hook as a command. What it judges is tested with the SDK; here: files, streams, reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fixture_runs

NOW = ("--now", "2026-03-06T12:00Z")
BERLIN = ("--timezone", "Europe/Berlin")
GOOD = fixture_runs.FIXTURES / "good"
DIGEST = "sha256:" + "0" * 64


def manifest(**changes: Any) -> dict[str, Any]:
    return {
        "manifestVersion": 1,
        "platform": "nextskin",
        "id": "cache",
        "entry": "plugin:plugin",
        "jobs": {"expire": {}},
        "cron": [{"schedule": "30 2 * * *", "job": "expire"}],
        **changes,
    }


def check(*arguments: str, stdin: bytes = b"") -> tuple[int, dict[str, Any]]:
    code, out, err = fixture_runs.call(["check", *arguments, *BERLIN, *NOW, "--format", "json"], stdin)
    assert out, err
    return code, json.loads(out)


def test_the_report_says_when_each_schedule_fires_and_what_a_clock_change_does(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(manifest()))
    arguments = ["check", str(path), *BERLIN, "--now", "2026-03-27T12:00Z", "--count", "2", "--color", "never"]
    code, out, err = fixture_runs.call(arguments)
    schedule = out.partition("  /cron/0  ")[2]
    assert (code, err) == (0, "")
    assert schedule == (
        "30 2 * * *  at 02:30 every day (Europe/Berlin)\n"
        "    2026-03-28 02:30 CET   2026-03-28T01:30:00Z\n"
        "    2026-03-29 03:00 CEST  2026-03-29T01:00:00Z\n"
        "      ! on 2026-03-29 the clock goes from 02:00 CET (UTC+01:00) to 03:00 CEST (UTC+02:00): "
        "02:30 does not exist and runs at 03:00\n"
        "      ! on 2026-10-25 the clock goes from 03:00 CEST (UTC+02:00) to 02:00 CET (UTC+01:00): "
        "02:30 comes twice and runs only the first time\n"
        "      ! on 2027-03-28 the clock goes from 02:00 CET (UTC+01:00) to 03:00 CEST (UTC+02:00): "
        "02:30 does not exist and runs at 03:00\n"
        "0 errors, 1 warning in 1 file.\n"
        "`nsplugin explain NSP210` tells more.\n"
    )


def test_the_json_report_is_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(manifest(cron=[{"schedule": "0 19 * * *", "job": "expire"}])))
    code, report = check(str(path), "--count", "1")
    (plugin,) = report["plugins"]
    assert code == 0
    assert list(report) == ["version", "command", "summary", "diagnostics", "plugins"]
    assert report["summary"] == {"files": 1, "errors": 0, "warnings": 0}
    assert (plugin["id"], plugin["platform"], plugin["manifest"]) == ("cache", "nextskin", str(path))
    (schedule,) = plugin["schedules"]
    assert schedule["pointer"] == "/cron/0"
    assert schedule["expression"] == "0 19 * * *"
    assert schedule["timezone"] == "Europe/Berlin"
    assert schedule["nextFires"] == ["2026-03-06T18:00:00Z"]


def test_a_finding_has_its_line_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(manifest(jobs={"expire": {"maxAttempts": 21}}), indent=2))
    code, report = check(str(path))
    (finding,) = [item for item in report["diagnostics"] if item["severity"] == "error"]
    assert code == 1
    assert {key: finding[key] for key in ("code", "path", "pointer", "line", "column", "endLine", "endColumn")} == {
        "code": "NSP104",
        "path": str(path),
        "pointer": "/jobs/expire/maxAttempts",
        "line": 8,
        "column": 22,
        "endLine": 8,
        "endColumn": 24,
    }
    assert report["plugins"] == []


def test_a_manifest_may_come_from_standard_input() -> None:
    code, report = check("-", stdin=json.dumps(manifest(id="a b")).encode())
    assert code == 1
    assert {finding["path"] for finding in report["diagnostics"]} == {"<stdin>"}


def test_many_manifests_give_one_report(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}.json") for number in range(3)]
    for number, name in enumerate(names):
        Path(name).write_text(json.dumps(manifest(id=f"a{number}", cron=[])))
    code, report = check(*names)
    assert (code, report["summary"]["files"]) == (0, 3)
    assert [plugin["id"] for plugin in report["plugins"]] == ["a0", "a1", "a2"]


@pytest.mark.parametrize("name", ["cache-expiry", "cdn-refresh", "order-automation"])
def test_the_digest_that_build_printed_is_the_one_that_check_takes(name: str) -> None:
    path = str(GOOD / name / "manifest.json")
    digest = check(path)[1]["plugins"][0]["digest"]
    assert check(path, "--digest", digest)[0] == 0
    code, report = check(path, "--digest", DIGEST)
    assert code == 1
    assert [item["code"] for item in report["diagnostics"] if item["severity"] == "error"] == ["NSP603"]


def test_an_endless_file_ends() -> None:
    code, report = check("/dev/zero")
    assert (code, report["diagnostics"][0]["code"]) == (1, "NSP601")


def test_an_endless_stream_ends() -> None:
    command = f"yes '[' | {sys.executable} -m nsplugin_cli check - --timezone UTC"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (1, "")
    first, *_ = done.stdout.split("  |\n")
    assert (
        first
        == """\
<stdin>:1:1: error NSP601 manifest-unreadable
  the text has more than 1,048,576 bytes, and no more are read
"""
    )


def test_count_zero_lists_no_fires(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(manifest()))
    assert check(str(path), "--count", "0")[1]["plugins"][0]["schedules"][0]["nextFires"] == []


def cogover(timezone: str) -> dict[str, object]:
    schedule = {"cron": "0 2 * * *", "timezone": timezone}
    jobs = [{"key": "sync", "schedule": schedule}]
    return {"manifestVersion": 1, "platform": "cogover", "id": "orders", "entry": "main:jobs", "jobs": jobs}


@pytest.mark.parametrize(
    ("timezone", "site", "row"),
    [
        (
            "Asia/Ho_Chi_Minh",
            "America/New_York",
            "2026-03-07 02:00 UTC+07:00  2026-03-06T19:00:00Z  site: 2026-03-06 14:00 EST",
        ),
        ("Asia/Ho_Chi_Minh", "UTC", "2026-03-07 02:00 UTC+07:00  2026-03-06T19:00:00Z"),
        ("Asia/Ho_Chi_Minh", "Asia/Ho_Chi_Minh", "2026-03-07 02:00 UTC+07:00  2026-03-06T19:00:00Z"),
        ("UTC+07:00", "Europe/Berlin", "2026-03-07 02:00 UTC+07:00  2026-03-06T19:00:00Z  site: 2026-03-06 20:00 CET"),
    ],
)
def test_a_fire_is_shown_on_the_sites_clock_as_well(tmp_path: Path, timezone: str, site: str, row: str) -> None:
    """Cogover's schedules have clocks of their own; the site's is shown where it says something else (spec/sdk.md check)."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps(cogover(timezone)))
    arguments = ["check", str(path), "--timezone", site, "--now", "2026-03-06T12:00Z", "--count", "1", "--color", "never"]
    code, out, _ = fixture_runs.call(arguments)
    assert code == 0
    assert f"    {row}\n" in out
    (fire,) = json.loads(fixture_runs.call([*arguments, "--format", "json"])[1])["plugins"][0]["schedules"][0]["fires"]
    assert fire["site"] == (row.partition("site: ")[2] or fire["site"])
    assert list(fire) == ["utc", "local", "site", "note"]
