"""What holds for every test: in CI nothing is skipped, because everything the suite wants must be there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be missing: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process, which can run no second one; each opens tabs of its own."""
    from playwright.sync_api import expect

    from browser_pages import PATIENCE_MS, launched

    expect.set_options(timeout=PATIENCE_MS)
    with launched() as made:
        yield made


@pytest.fixture(autouse=True)
def _loop_of_the_browser(request: pytest.FixtureRequest) -> Iterator[None]:
    """From its first test on, Playwright's loop counts as running in this thread: others could not start one of their own."""
    if "browser" in request.fixturenames:
        yield
        return
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
