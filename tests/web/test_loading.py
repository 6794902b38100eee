"""Loading: without layout shifts, installable, with an offline page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server.driving import RunningServer
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player
from tests.web.stage import Stage
from tests.web.states import beginning, daily, home

MOST_SHIFT = 0.02
STILL = "() => new Promise((done) => setTimeout(done, 300))"
GAMES = ("axio", "hex", "rota", "trio")


def slow_down(visitor: Visitor) -> None:
    """Slow down CPU and network, so that parts of the page arrive visibly one after another."""
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 2})
    speed = {"latency": 60, "downloadThroughput": 300_000, "uploadThroughput": 100_000}
    session.send("Network.emulateNetworkConditions", {"offline": False, **speed})


def table(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.running['axio']}")
    Player(visitor).due()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_layout_does_not_shift_while_loading(visit: Visit, stage: Stage, size: str) -> None:
    shifts: dict[str, float] = {}
    for name, show in (("home", home), ("table", table), ("first", beginning), ("daily", daily)):
        visitor = visit(size, worker=False)
        slow_down(visitor)
        stage.enter(visitor)
        show(visitor, stage)
        visitor.page.evaluate(STILL)  # wait for late parts
        shifts[name] = visitor.page.evaluate("window.shifted")
        visitor.context.close()
    assert {name: shift for name, shift in shifts.items() if shift >= MOST_SHIFT} == {}


@pytest.mark.parametrize("language", ["en", "de"])
def test_rules_pages_of_all_games(visit: Visit, language: str) -> None:
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
        visitor.until("() => [...document.images].every((one) => one.complete)")
        widths = page.locator(".rules-text img").evaluate_all("all => all.map((one) => one.naturalWidth)")
        assert widths, game
        assert min(widths) > 0, game
        german = page.locator(".rules-text").inner_text().count(" der ")
        assert (german > 5) == (language == "de")
        targets = page.locator(".contents a").evaluate_all(
            "all => all.map((one) => one.getAttribute('href'))"
        )
        assert len(targets) > 3
        for target in targets:
            assert page.locator(f"[id='{target[1:]}']").count() == 1
    visitor.click("a[href^='/?new=']")
    expect(page.locator("#new-game")).to_have_value(GAMES[-1])


def test_page_is_installable(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/")
    href = page.locator("link[rel=manifest]").get_attribute("href")
    manifest = page.request.get(f"{visitor.url}{href}")
    assert manifest.headers["content-type"].startswith("application/manifest+json")
    told = manifest.json()
    assert told["name"]
    assert told["display"] == "standalone"
    for icon in told["icons"]:
        answer = page.request.get(f"{visitor.url}{icon['src']}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(icon["type"])
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in told["icons"]}
    state = page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.scriptURL)")
    assert state == f"{visitor.url}/sw.js"


def test_offline_page_and_strip(visit: Visit, site: RunningServer) -> None:
    visitor = visit("phone")
    visitor.allow("ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket connection|Failed to fetch")
    page = visitor.goto("/")
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.state)")
    visitor.until("() => navigator.serviceWorker.controller?.state === 'activated'")
    visitor.goto("/")  # through the service worker, which copies the page
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
