"""Fixtures: a browser and a server shared by all tests, and independent visitors."""

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
    """Record for the fixtures of a test whether it has failed."""
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
    """A person with tables in all states; see `Stage`."""
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
        reduced_motion: bool = False,
        short_pauses: bool = False,
        service_worker: bool = True,
    ) -> Visitor: ...


@pytest.fixture
def visit(
    chromium: Chromium, site: RunningServer, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Visit]:
    """Return a function that creates visitors.

    Unexpected problems on their pages fail the test. After a failure, screenshots are saved.
    """
    visitors: list[Visitor] = []

    def create(size: str = "desktop", *, url: str | None = None, **options: Any) -> Visitor:
        visitors.append(new_visitor(chromium, url or site.url, size, **options))
        return visitors[-1]

    yield create
    unexpected = [problem for visitor in visitors for problem in visitor.unexpected_problems]
    if request.node.stash.get(FAILED, False) or unexpected:
        for number, visitor in enumerate(visitors, 1):
            path = tmp_path / f"visitor-{number}.png"
            try:
                visitor.page.screenshot(path=path)
                print(f"screenshot of {visitor.page.url}: {path}")
            except BrowserError as error:
                print(f"no screenshot of visitor {number}: {error}")
    for visitor in visitors:
        visitor.context.close()
    assert unexpected == [], "unexpected problems on a page"
