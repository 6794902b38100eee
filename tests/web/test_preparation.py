"""The page shows the progress of the rules while a bot or a hint waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from axiogames.web.pages import DEV_VARIABLE
from tests.server.driving import RunningServer, start_server
from tests.web.conftest import Visit

PREPARATION = "**/panels/preparation.js"
WAIT_FOR_A_BOT = """async (kind) => {
    const { notifySelection, state } = await import("/static/js/table/state/store.js");
    state.view.seats[0].kind = kind;
    notifySelection();
}"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of the unbundled page, in which tests can change the state of the table."""
    with start_server(tmp_path_factory.mktemp("sources"), environment={DEV_VARIABLE: "1"}) as server:
        yield server


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "The rules are being prepared: 40 %."), ("de", "Die Regeln werden gerade vorbereitet: 40 %.")],
)
def test_progress_is_shown_while_somebody_waits(
    visit: Visit, sources: RunningServer, language: str, text: str
) -> None:
    visitor = visit(url=sources.url, language=language)
    share = 0.4

    def answer(route: Route) -> None:
        route.fulfill(json={"ready": share == 1.0, "games": {"rota": share}})

    visitor.page.route("**/api/rules-progress", answer)
    visitor.set_settings(coach=False)
    with visitor.page.expect_response(PREPARATION):
        visitor.goto(f"/t/{visitor.client.open('rota', ['me']).id}")
    detail = visitor.page.locator("#detail")
    expect(detail).not_to_be_empty()
    before = detail.inner_text()
    with visitor.page.expect_request("**/api/rules-progress"):
        visitor.page.evaluate(WAIT_FOR_A_BOT, "bot")
    expect(detail).to_contain_text(text)
    expect(visitor.page.locator("#announcement")).to_contain_text(text)
    share = 1.0  # the next answer says that the rules are ready
    visitor.page.evaluate(WAIT_FOR_A_BOT, "person")
    expect(detail).to_have_text(before)


def test_page_does_not_ask_while_nobody_waits(visit: Visit, sources: RunningServer) -> None:
    visitor = visit(url=sources.url)
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.set_settings(coach=False)
    with visitor.page.expect_response(PREPARATION):
        visitor.goto(f"/t/{visitor.client.open('rota', ['me']).id}")
    expect(visitor.page.locator("#detail")).not_to_be_empty()
    assert not [url for url in asked if url.endswith("/api/rules-progress")]
