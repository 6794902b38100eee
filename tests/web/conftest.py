"""Fixtures: a shared browser and server, and independent visitors."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from tests.server.driving import RunningServer, start_server
from tests.web.browsing import Theme, Visitor, launch, new_visitor
from tests.web.stage import Stage

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record whether a test has failed, for its fixtures."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


# Not session-scoped: while Playwright runs, nothing else can use asyncio in this process.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Chromium]:
    """The system's Chromium."""
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server shared by the tests."""
    with start_server(tmp_path_factory.mktemp("site")) as server:
        yield server


@pytest.fixture(scope="package")
def stage(site: RunningServer) -> Stage:
    """A person with tables in all states."""
    return Stage(site.url)


class Visit(Protocol):
    """Creates visitors; see `browsing.new_visitor`."""

    def __call__(
        self,
        size: str = "desktop",
        *,
        url: str | None = None,
        language: str = "en",
        theme: Theme = "light",
        calm: bool = False,
        hurry: bool = False,
        worker: bool = True,
    ) -> Visitor: ...


@pytest.fixture
def visit(
    chromium: Chromium, site: RunningServer, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Visit]:
    """Create visitors. Any problem on their pages fails the test; failures leave screenshots."""
    visitors: list[Visitor] = []

    def make(size: str = "desktop", *, url: str | None = None, **how: Any) -> Visitor:
        visitors.append(new_visitor(chromium, url or site.url, size, **how))
        return visitors[-1]

    yield make
    unexpected = [problem for visitor in visitors for problem in visitor.unexpected_problems]
    if request.node.stash.get(FAILED, False) or unexpected:
        for number, visitor in enumerate(visitors, 1):
            picture = tmp_path / f"visitor-{number}.png"
            try:
                visitor.page.screenshot(path=picture)
                print(f"{visitor.page.url} looked like {picture}")
            except BrowserError as error:
                print(f"no picture of visitor {number}: {error}")
    for visitor in visitors:
        visitor.context.close()
    assert unexpected == [], "a page has complained"
