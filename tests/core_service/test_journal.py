"""The log of a running core is one stream of JSON lines, whoever writes (spec/core.md Commands)."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nsplugin_core.journal import Journal


@contextmanager
def lines(**options: Any) -> Iterator[list[dict[str, Any]]]:
    """What is logged within, read afterwards."""
    stream, found = io.StringIO(), list[dict[str, Any]]()
    journal = Journal("json", stream=stream, **options)
    try:
        yield found
    finally:
        journal.close()
        found += [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_libraries_log_is_json_too() -> None:
    with lines() as found:
        logging.getLogger("psycopg.pool").warning("discarding closed connection: %r", "BAD")
        logging.getLogger("uvicorn.error").info("not of interest")
        logging.getLogger("nsplugin.core").info("said once")
    assert [(line["logger"], line["level"], line["event"]) for line in found] == [
        ("psycopg.pool", "warning", "discarding closed connection: 'BAD'"),
        ("nsplugin.core", "info", "said once"),
    ]


def test_an_exception_that_a_library_logs_stays_one_line() -> None:
    with lines() as found:
        try:
            raise ValueError("boom")
        except ValueError:
            logging.getLogger("some.library").exception("it failed")
    assert found[0]["event"] == "it failed"
    assert "ValueError: boom" in found[0]["exception"]


@pytest.mark.filterwarnings("always")
def test_what_libraries_warn_of_is_json_too() -> None:
    with lines() as found:
        warnings.warn("this is going away", FutureWarning, stacklevel=1)
    assert (found[0]["logger"], found[0]["level"]) == ("py.warnings", "warning")
    assert "FutureWarning: this is going away" in found[0]["event"]


def test_afterwards_the_standard_library_logs_as_before() -> None:
    before = list(logging.getLogger().handlers)
    with lines():
        assert len(logging.getLogger().handlers) == len(before) + 1
    assert logging.getLogger().handlers == before
