"""``next``: one schedule in words, or a stream of questions (spec/cli.md, spec/sdk.md Batch)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fixture_runs

AFTER = ("--after", "2026-03-06T12:00Z")
NEW_YORK = ("--timezone", "America/New_York")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


DEFERRED = (
    "      ! on 2026-03-08 the clock goes from 02:00 EST (UTC-05:00) to 03:00 EDT (UTC-04:00): 02:30 does not exist and {}\n"
)


def test_a_schedule_in_words_with_what_a_clock_change_defers() -> None:
    assert fixture_runs.call(["next", " 30 2  * * * ", *NEW_YORK, *AFTER, "--count", "2"]) == (
        0,
        "30 2 * * *  at 02:30 every day (America/New_York)\n"
        "    2026-03-07 02:30 EST  2026-03-07T07:30:00Z\n"
        "    2026-03-08 03:00 EDT  2026-03-08T07:00:00Z\n" + DEFERRED.format("runs at 03:00"),
        "",
    )


def test_what_a_clock_change_drops_is_said_under_the_other_rule() -> None:
    assert fixture_runs.call(["next", "30 2 * * *", *NEW_YORK, *AFTER, "--count", "1", "--platform", "cogover"]) == (
        0,
        "30 2 * * *  at 02:30 every day (America/New_York)\n"
        "    2026-03-07 02:30 EST  2026-03-07T07:30:00Z\n" + DEFERRED.format("does not run"),
        "",
    )


def test_a_fault_is_marked_below_its_field() -> None:
    code, out, err = fixture_runs.call(["next", "0 25 * * 1", *NEW_YORK])
    assert (code, err) == (1, "")
    assert out == (
        "expression:1:3: error NSP203 cron-value-out-of-range\n"
        "  hour 25 is out of range: 0–23\n"
        "  |\n"
        "1 | 0 25 * * 1\n"
        "  |   ^^\n"
        "\n"
        "1 error, 0 warnings in 1 file.\n"
        "`nsplugin explain NSP203` tells more.\n"
    )


@pytest.mark.parametrize(
    ("expression", "code"),
    [("0 0 30 2 *", "NSP207"), ("", "NSP201"), ("* * * * * *", "NSP201"), ("0\n0 * * *", "NSP202"), ("１ * * * *", "NSP202")],
)
def test_every_fault_is_a_finding_of_its_rule(expression: str, code: str) -> None:
    result, out, _ = fixture_runs.call(["next", expression, *NEW_YORK, "--format", "json"])
    report = json.loads(out)
    assert result == 1
    assert code in {finding["code"] for finding in report["diagnostics"]}
    assert all(finding["line"] == 1 for finding in report["diagnostics"])


def test_json_has_the_fires() -> None:
    code, out, _ = fixture_runs.call(["next", "0 3 * * *", *NEW_YORK, *AFTER, "--count", "1", "--format", "json"])
    report = json.loads(out)
    assert code == 0
    assert (report["version"], report["command"], report["diagnostics"]) == (1, "next", [])
    assert report["schedules"][0]["nextFires"] == ["2026-03-07T08:00:00Z"]


def test_zone_and_platform_come_from_the_project_file() -> None:
    Path("nsplugin.toml").write_text('timezone = "UTC+7"\nplatform = "cogover"\n')
    assert fixture_runs.call(["next", "0 3 * * *"]) == (
        2,
        "",
        f'Error: {Path.cwd()}/nsplugin.toml: `timezone` is no time zone: "UTC+7" is a fixed offset, which is not taken here\n',
    ), "a site's zone is an IANA id"
    Path("nsplugin.toml").write_text('timezone = "Asia/Tokyo"\n')
    assert "(Asia/Tokyo)" in fixture_runs.call(["next", "0 3 * * *"])[1]
    assert "(UTC+07:00)" in fixture_runs.call(["next", "0 3 * * *", "--timezone", "UTC+7", "--platform", "cogover"])[1]


def answers(lines: str, *options: str) -> tuple[int, list[dict[str, object]]]:
    code, out, err = fixture_runs.call(["next", "--jsonl", "-", *options], lines.encode("utf-8", "surrogatepass"))
    assert err == ""
    return code, [json.loads(line) for line in out.splitlines()]


def test_a_batch_answers_each_line_in_order() -> None:
    lines = [
        {"expression": "*/30 * * * *", "timezone": "UTC", "after": "2026-03-08T07:00Z", "count": 2},
        {"expression": "0 0 30 2 *", "timezone": "UTC"},
        {"expression": "30 2 * * *", "timezone": "America/New_York", "after": "2026-03-08T06:00Z", "count": 1},
        {
            "expression": "30 2 * * *",
            "timezone": "America/New_York",
            "after": "2026-03-08T01:00-05:00",
            "count": 1,
            "platform": "cogover",
        },
    ]
    code, found = answers("\n".join(map(json.dumps, lines)))
    assert code == 0
    assert found == [
        {"fires": ["2026-03-08T07:30Z", "2026-03-08T08:00Z"]},
        {"fires": []},
        {"fires": ["2026-03-08T07:00Z"]},
        {"fires": ["2026-03-09T06:30Z"]},
    ]


def test_options_fill_in_what_a_line_leaves_out() -> None:
    options = ("--timezone", "Asia/Tokyo", "--after", "2026-03-08T00:00Z", "--count", "1", "--platform", "cogover")
    assert answers('{"expression": "0 3 * * *"}', *options) == (0, [{"fires": ["2026-03-08T18:00Z"]}])


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", {"code": "NSP601"}),
        ("nonsense", {"code": "NSP601"}),
        ('{"expression": "* * * * *", "expression": "1 * * * *"}', {"code": "NSP601"}),
        ("[" * 5000, {"code": "NSP601"}),
        ('{"expression": "' + "*" * 70_000 + '"}', {"code": "NSP601"}),
        ("[]", {"code": "NSP007", "message": "the line must be an object, not an array"}),
        ('{"timezone": "UTC"}', {"code": "NSP008", "message": "`expression` is missing"}),
        ('{"expression": "* * * * *"}', {"code": "NSP008", "message": "`timezone` is missing"}),
        (
            '{"expression": 5, "timezone": "UTC"}',
            {"code": "NSP007", "message": "`expression` must be a string, not the integer 5"},
        ),
        ('{"expression": "* * * * *", "timezone": "UTC", "count": true}', {"code": "NSP007"}),
        ('{"expression": "* * * * *", "timezone": "UTC", "count": 0}', {"code": "NSP007"}),
        ('{"expression": "* * * * *", "timezone": "UTC", "platform": "k8s"}', {"code": "NSP007"}),
        ('{"expression": "* * * * *", "timezone": "UTC", "after": "2026-03-08T07:00"}', {"code": "NSP007"}),
        ('{"expression": "* * * * *", "timezone": "UTC", "after": "now"}', {"code": "NSP007"}),
        ('{"expression": "* * * * *", "timezone": "UTC", "cuont": 1}', {"code": "NSP006", "hint": "did you mean `count`?"}),
        ('{"expression": "* * * * *", "timezone": "../x"}', {"code": "NSP206"}),
        ('{"expression": "* * * * *", "timezone": "UTC+7"}', {"code": "NSP206"}),
        ('{"expression": "* * * *", "timezone": "UTC"}', {"code": "NSP201"}),
        ('{"expression": "* 25 * * *", "timezone": "UTC"}', {"code": "NSP203", "field": "hour", "column": 3}),
        ('{"expression": "* MON * * *", "timezone": "UTC"}', {"code": "NSP202", "field": "hour", "column": 3}),
        ('{"expression": "' + "1," * 600 + '1 * * * *", "timezone": "UTC"}', {"code": "NSP205"}),
    ],
)
def test_a_line_at_fault_is_answered_with_its_error_and_the_next_is_read(line: str, error: dict[str, object]) -> None:
    good = '{"expression": "0 3 * * *", "timezone": "UTC", "after": "2026-03-08T07:00Z", "count": 1}'
    code, (first, second) = answers(f"{line}\n{good}\n")
    assert code == 1
    assert set(first) == {"error"}
    found = first["error"]
    assert isinstance(found, dict)
    assert {key: found[key] for key in error} == error
    assert second == {"fires": ["2026-03-09T03:00Z"]}


def test_a_batch_is_a_conversation() -> None:
    """Each answer comes before the next question, so that a program can keep one process for all its questions."""
    command = [sys.executable, "-m", "nsplugin_cli", "next", "--jsonl", "-", *NEW_YORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for hour in (3, 4):
            process.stdin.write(b'{"expression": "0 %d * * *", "after": "2026-01-01T00:00Z", "count": 1}\n' % hour)
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"fires": [f"2026-01-01T0{hour + 5}:00Z"]}
        process.stdin.close()
    assert process.returncode == 0


def test_a_batch_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"expression": "0 0 30 2 *", "timezone": "UTC"}\n')
    assert fixture_runs.call(["next", "--jsonl", str(path)]) == (0, '{"fires": []}\n', "")


def test_a_batch_agrees_with_every_public_vector() -> None:
    lines = (fixture_runs.FIXTURES / "cron/cron_fires.jsonl").read_text(encoding="utf-8").splitlines()
    vectors = [json.loads(line) for line in lines]
    keys = {"expression": "expression", "timezone": "timezone", "after": "after", "dialect": "platform"}
    questions = [
        {**{new: vector[old] for old, new in keys.items()}, "count": max(len(vector["fires"]), 1)} for vector in vectors
    ]
    code, found = answers("\n".join(map(json.dumps, questions)))
    assert code == 0
    wrong = [vector["id"] for vector, answer in zip(vectors, found, strict=True) if answer != {"fires": vector["fires"]}]
    assert wrong == []
