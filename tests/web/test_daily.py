"""The daily deal: a single attempt, which can be resumed, and the ranking."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

from playwright.sync_api import expect

from axiogames.server.settings import DATABASE_FILE
from tests.server.driving import RunningServer
from tests.web.conftest import Visit
from tests.web.playing import Player
from tests.web.stage import best_pick


def test_attempt_resumes_and_is_ranked_when_finished(visit: Visit, site: RunningServer) -> None:
    visitor = visit("phone", short_pauses=True)
    visitor.set_settings(coach=False)
    visitor.client.patch("/api/me", {"name": "Dora"})
    page = visitor.goto("/daily")
    expect(page.locator(".countdown")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    visitor.click("[data-play=rota]")
    player = Player(visitor)
    for _ in range(2):
        player.act()
    player.wait_for_action()
    table = player.id
    tiles = page.locator("#board .tiles > g")
    placed = tiles.count()
    page.reload()
    player.wait_for_action()
    assert tiles.count() == placed

    visitor.goto("/daily")
    resume = page.locator("[data-play=rota]")
    expect(resume).to_have_text("Continue")
    visitor.click(resume)
    player.wait_for_action()
    assert player.id == table
    assert tiles.count() == placed

    with visitor.client.live(table) as live:
        live.play_to_end(best_pick)
    expect(page.locator("#status")).to_have_text("The game is over")
    assert player.wait_for_action() == "over"
    visitor.goto("/daily")
    own_result = page.locator("[data-deal=rota] .best .you")
    expect(own_result).to_contain_text("Dora")
    expect(own_result.locator(".chip").first).to_have_text(re.compile(r"^\d+$"))
    assert page.locator("[data-play=rota]").count() == 0, "only one attempt"
    visitor.click(page.locator("[data-deal=rota] a.button"))
    page.wait_for_url(f"**/t/{table}")

    expect(page.locator("#board")).to_be_visible()
    visitor.goto("/daily")
    expect(page.locator("[data-unlisted=rota]")).to_be_visible()
    stranger = visit()
    stranger.goto("/daily")
    expect(stranger.find("[data-deal=rota]")).to_be_visible()
    expect(stranger.find("[data-deal=rota] .best .row").filter(has_text="Dora")).to_have_count(0)
    with closing(sqlite3.connect(site.data / DATABASE_FILE)) as database, database:
        database.execute("UPDATE people SET created = 0 WHERE name = 'Dora'")  # no longer a new person
    stranger.goto("/daily")
    expect(stranger.find("[data-deal=rota] .best")).to_contain_text("Dora")
    expect(stranger.find("[data-deal=rota] .best a")).to_have_count(0)  # hidden until the day is over


def test_earlier_days_can_be_viewed(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/daily")
    page.locator("[data-play]").first.wait_for()
    today = page.locator("#day").text_content() or ""
    visitor.click("[data-day][rel=prev]")
    expect(page.locator("#day")).not_to_have_text(today)
    expect(page.locator("#deals")).to_contain_text("Nobody finished this deal.")
    assert page.locator("[data-play]").count() == 0
    visitor.click("[data-day][rel=next]")
    expect(page.locator("#day")).to_have_text(today)
    visitor.allow("40[04]")
    visitor.goto("/daily?day=2999-01-01")
    expect(page.locator("#deals")).to_contain_text(re.compile(r"\w+ \w+ .*\."))
    visitor.click("#deals a")
    expect(page.locator("[data-play]").first).to_be_visible()
