"""The first visit, loading without layout shifts, rules pages, installation, and the offline page."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import expect

from axiogames.games import LANGUAGES
from axiogames.web.pages import DEV_VARIABLE
from benchmarks.first_load import first_visit
from tests.server.driving import RunningServer, start_server
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player
from tests.web.stage import GAMES, Stage
from tests.web.states import beginning, daily, home

MAX_SHIFT = 0.02
PAUSE = "() => new Promise((resolve) => setTimeout(resolve, 300))"


MAX_REQUESTS = 15
MAX_RECEIVED = {"br": 100_000, "gzip": 110_000}  # bytes


@pytest.mark.parametrize("encoding", MAX_RECEIVED)
def test_first_visit_loads_little_until_the_first_tile(
    chromium: Chromium, site: RunningServer, encoding: str
) -> None:
    visit = first_visit(chromium, site.url, encoding=encoding, throttled=False)
    assert visit.requests <= MAX_REQUESTS
    assert visit.received < MAX_RECEIVED[encoding]


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_and_data_are_requested_before_the_script_runs(visit: Visit, language: str) -> None:
    visitor = visit(language=language, service_worker=False)
    requested: list[str] = []
    visitor.page.on("request", lambda request: requested.append(request.url.removeprefix(visitor.url)))
    visitor.page.route("**/home.*.js", lambda route: route.abort())
    visitor.allow("ERR_FAILED|preloaded using link preload")
    visitor.page.goto(visitor.url)
    assert f"/api/home?lang={language}" in requested
    assert [path for path in requested if re.fullmatch(rf"/static/bundles/{language}\.\w+\.json", path)]


def test_page_runs_unbundled_while_it_is_developed(visit: Visit, tmp_path: Path) -> None:
    with start_server(tmp_path, environment={DEV_VARIABLE: "1"}) as server:
        visitor = visit(url=server.url)
        visitor.goto("/")
        visitor.click(visitor.find("[data-play]").first)
        Player(visitor).wait_for_action()
        assert not [response.url for response in visitor.responses if "/bundles/" in response.url]
        visitor.page.wait_for_load_state()


def slow_down(visitor: Visitor) -> None:
    """Slow down CPU and network, so that parts of the page appear one after another."""
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 2})
    speed = {"latency": 60, "downloadThroughput": 300_000, "uploadThroughput": 100_000}
    session.send("Network.emulateNetworkConditions", {"offline": False, **speed})


def running(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.running['axio']}")
    Player(visitor).wait_for_action()


@pytest.mark.parametrize("size", ["phone", pytest.param("desktop", marks=pytest.mark.slow)])
def test_layout_does_not_shift_while_loading(visit: Visit, stage: Stage, size: str) -> None:
    shifts: dict[str, float] = {}
    for name, show in (("home", home), ("running", running), ("beginning", beginning), ("daily", daily)):
        visitor = visit(size, service_worker=False)
        slow_down(visitor)
        stage.sign_in(visitor)
        show(visitor, stage)
        visitor.page.evaluate(PAUSE)  # late parts
        shifts[name] = visitor.page.evaluate("window.layoutShift")
        visitor.context.close()
    assert {name: shift for name, shift in shifts.items() if shift >= MAX_SHIFT} == {}


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "de"])
def test_rules_pages_have_figures_and_contents(visit: Visit, language: str) -> None:
    visitor = visit("phone" if language == "de" else "desktop", language=language)
    page = visitor.goto("/rules")
    expect(page.locator("[data-rules]")).to_have_count(len(GAMES))
    for game in GAMES:
        if game == GAMES[0]:
            visitor.click(f"[data-rules={game}]")
        else:
            visitor.goto(f"/rules/{game}")
        page.locator(".rules-text img").first.wait_for(state="attached")
        expect(page.locator("html")).to_have_attribute("lang", language)
        for picture in page.locator(".rules-text img").all():
            picture.scroll_into_view_if_needed()
            assert len(picture.get_attribute("alt") or "") > 20
        visitor.wait_until("() => [...document.images].every((image) => image.complete)")
        widths = page.locator(".rules-text img").evaluate_all(
            "images => images.map((image) => image.naturalWidth)"
        )
        assert widths, game
        assert min(widths) > 0, game
        german_articles = page.locator(".rules-text").inner_text().count(" der ")
        assert (german_articles > 5) == (language == "de")
        links = page.locator(".contents a").evaluate_all(
            "links => links.map((link) => link.getAttribute('href'))"
        )
        assert len(links) > 3
        for link in links:
            assert page.locator(f"[id='{link[1:]}']").count() == 1
    visitor.click("a[href^='/?new=']")
    expect(page.locator("#new-game")).to_have_value(GAMES[-1])


def test_page_is_installable(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/")
    href = page.locator("link[rel=manifest]").get_attribute("href")
    address = f"{visitor.url}{href}"
    response = page.request.get(address)
    assert response.headers["content-type"].startswith("application/manifest+json")
    manifest = response.json()
    assert manifest["name"]
    assert manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        response = page.request.get(urljoin(address, icon["src"]))
        assert response.status == 200
        assert response.headers["content-type"].startswith(icon["type"])
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}
    script_url = page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.scriptURL)")
    assert script_url == f"{visitor.url}/sw.js"


def test_offline_page_and_offline_strip(visit: Visit, site: RunningServer) -> None:
    visitor = visit("phone")
    visitor.allow("ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket connection|Failed to fetch")
    page = visitor.goto("/")
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.state)")
    visitor.wait_until("() => navigator.serviceWorker.controller?.state === 'activated'")
    visitor.goto("/")  # through the service worker, which caches the page
    visitor.find("[data-play]").first.wait_for()

    visitor.context.set_offline(True)
    visitor.goto("/daily")
    expect(page.locator("h1")).to_have_text("You are offline")
    assert page.url == f"{visitor.url}/daily"
    visitor.goto("/")
    expect(page.locator("#offline")).to_contain_text("You are offline.")
    visitor.goto("/daily")
    visitor.context.set_offline(False)
    expect(page.locator("h1")).to_have_text("Deal of the day")
    expect(page.locator("#deals > li")).to_have_count(len(GAMES))
    expect(page.locator("#deals h3").first).to_have_text(re.compile("axio", re.IGNORECASE))
