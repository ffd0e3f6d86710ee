"""A finding of build points at the line of the source that caused it."""

from __future__ import annotations

import pytest

from nsplugin.definition.call_site import CallSite
from nsplugin.definition.collect import collecting
from nsplugin_cli.source.python import spans_of_call
from python_sources import text_at

SOURCE = """\
from nsplugin import Cron, Job, define_plugin
from nsplugin.cogover import Schedule, define_job

async def expire(ctx): ...


def make(names, größe=5):
    return define_plugin(
        id="ä-b",
        jobs={name: Job(expire, max_attempts=größe, timeout_ms=0) for name in names},
        cron=[Cron("0 25 * * *", job="expire")],
    )


plugin = make(["expire"])


@define_job(key="first", timeout_ms=1)
async def first(payload): ...


second = define_job({"key": "second", "maxAttempts": 99}, expire)
third = define_job(key="third", schedule=Schedule("* * * * 8"))(expire)
"""


def _sites() -> dict[str, CallSite]:
    code = compile(SOURCE, "plugin.py", "exec")
    with collecting() as record:
        namespace: dict[str, object] = {}
        exec(code, namespace)
    plugin = namespace["plugin"]
    sites = {f"plugin {pointer}": site for pointer, site in plugin.sites.items()}
    return sites | {each.definition.key: each.site for each in record if each.definition is not plugin and each.site}


@pytest.mark.parametrize(
    ("call", "pointer", "text"),
    [
        ("plugin ", "/id", '"ä-b"'),
        ("plugin ", "/cron/0/schedule", '"0 25 * * *"'),
        ("plugin ", "/jobs/expire/timeoutMs", "{name: Job(expire, max_attempts=größe, timeout_ms=0) for name in names}"),
        ("plugin /jobs/expire", "/timeoutMs", "0"),
        ("plugin /jobs/expire", "/maxAttempts", "größe"),
        ("plugin /cron/0", "/schedule", '"0 25 * * *"'),
        ("first", "/timeoutMs", "1"),
        ("second", "/maxAttempts", "99"),
        ("second", "/key", '"second"'),
        ("third", "/schedule/cron", '"* * * * 8"'),
        ("third", "/nothing/such", 'define_job(key="third", schedule=Schedule("* * * * 8"))'),
    ],
)
def test_the_parts_of_a_call_are_found_by_its_site(call: str, pointer: str, text: str) -> None:
    found = spans_of_call(SOURCE.encode(), _sites()[call]).locate(pointer)
    assert text_at(SOURCE, found) == text


def test_characters_inside_a_string_are_found_too() -> None:
    spans = spans_of_call(SOURCE.encode(), _sites()["plugin "])
    assert text_at(SOURCE, spans.locate("/cron/0/schedule", "value", 2, 4)) == "25"


def test_a_site_without_columns_is_found_by_its_line() -> None:
    site = CallSite(path="plugin.py", line=22)
    assert text_at(SOURCE, spans_of_call(SOURCE.encode(), site).locate("/maxAttempts")) == "99"


@pytest.mark.parametrize(
    ("data", "site"),
    [
        (b"x = (", CallSite(path="a.py", line=1, column=0, end_line=1, end_column=5)),
        (b"\xff\xfe", CallSite(path="a.py", line=7)),
        (b"x = 1\n", CallSite(path="a.py", line=900, column=3, end_line=901, end_column=3)),
        (b"x = f()\n", CallSite(path="a.py", line=1, column=4, end_line=1, end_column=7)),
        (b"", CallSite(path="a.py", line=1, column=0, end_line=1, end_column=0)),
    ],
)
def test_a_file_that_changed_since_gives_the_place_of_the_call_alone(data: bytes, site: CallSite) -> None:
    assert spans_of_call(data, site).locate("/jobs/a") is not None
