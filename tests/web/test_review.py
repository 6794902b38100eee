"""Hints with reasons, reviews of finished games, levels of bots, and the HTML report of `axio review`."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from axiogames.analysis.review.remarks import review_texts
from axiogames.players import LEVELS
from axiogames.web.pages import manifest
from tests.analysis.review.games import whole_game
from tests.analysis.review.test_page import rendered_page
from tests.web.browsing import SIZES
from tests.web.checks import horizontal_overflow, violations
from tests.web.conftest import Visit
from tests.web.stage import Stage
from tests.web.states import REVIEW_TIMEOUT, open_with_hint, review_summary, reviewed_move, settle

both_languages = pytest.mark.parametrize("language", ["en", "de"])


@both_languages
def test_hint_explains_its_reasons(visit: Visit, stage: Stage, language: str) -> None:
    visitor = visit(language=language)
    stage.sign_in(visitor)
    open_with_hint(visitor, stage.running["axio"])
    chance, reason = (review_texts(language)[key] for key in ("terms.win", "hint_raises"))
    expect(visitor.find("#detail")).to_contain_text(f"{chance[0].upper()}{chance[1:]}: ")
    expect(visitor.find("#detail")).to_contain_text(reason.split(" ")[0])


def test_review_rates_each_move_of_the_replay(visit: Visit, stage: Stage) -> None:
    visitor = visit()
    stage.sign_in(visitor)
    review_summary(visitor, stage)
    expect(visitor.find("#review-dialog .review-seat")).to_have_count(2)
    turning = visitor.find("#review-dialog li button")
    text = turning.first.inner_text()
    visitor.click(turning.first)
    expect(visitor.find("#review-dialog")).to_have_count(0)
    expect(visitor.find("#review-note .rated")).not_to_have_count(0)
    assert text.endswith(".")
    # Step through the moves by keyboard; the cursor of the graph follows.
    visitor.page.keyboard.press("Home")
    before = visitor.find(".review-cursor").get_attribute("d")
    visitor.page.keyboard.press("ArrowRight")
    expect(visitor.find(".review-cursor")).not_to_have_attribute("d", before or "")
    expect(visitor.find("#review-note .rated")).to_have_count(1)
    visitor.page.keyboard.press("End")
    box = visitor.find("#review-graph").bounding_box()
    assert box is not None
    visitor.click_at(box["x"] + 2, box["y"] + box["height"] / 2)
    expect(visitor.find("#scrubber")).to_have_value("0")
    # The review is kept when the replay is closed.
    visitor.click("#replay-close")
    expect(visitor.find("#review-note")).to_be_hidden()
    visitor.click("#result")
    visitor.find("dialog .actions button").first.click()
    expect(visitor.find("#review-dialog")).to_be_visible()


def test_better_move_is_shown_on_the_board(visit: Visit, stage: Stage) -> None:
    visitor = visit()
    stage.sign_in(visitor)
    reviewed_move(visitor, stage)
    for _ in range(40):
        if visitor.find("#review-show").count():
            break
        visitor.page.keyboard.press("ArrowRight")
    show = visitor.find("#review-show")
    if show.get_attribute("aria-pressed") != "true":
        visitor.click(show)
    expect(show).to_have_attribute("aria-pressed", "true")
    place = visitor.find("#board [data-best]").get_attribute("data-best")
    assert place is not None
    assert place in show.inner_text()
    visitor.click(show)
    expect(visitor.find("#board [data-best]")).to_have_count(0)


def test_failed_download_is_reported(visit: Visit, stage: Stage) -> None:
    visitor = visit(service_worker=False)
    stage.sign_in(visitor)
    visitor.allow("ERR_FAILED|Failed to fetch")
    visitor.page.route(f"**/{manifest().files['review.js']}", lambda route: route.abort())
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.finished}?move=3")
    visitor.click("#review")
    expect(visitor.find(".toast-error")).to_be_visible()


def test_bots_are_offered_by_level(visit: Visit, stage: Stage) -> None:
    visitor = visit(language="de")
    stage.sign_in(visitor)
    visitor.goto("/")
    visitor.click("#new")
    levels = visitor.find("#new-table [data-level]").first
    levels.wait_for()
    assert levels.locator("option").evaluate_all("options => options.map((option) => option.value)") == list(
        LEVELS
    )
    names = levels.locator("option").all_inner_texts()
    assert all(name.startswith(f"{number} · ") for number, name in enumerate(names, 1))
    expect(levels).to_have_value("level4")
    levels.select_option("level2")
    visitor.click("#new-start")
    visitor.page.wait_for_url("**/t/*")
    expect(visitor.page.locator("body")).to_contain_text("2 · leicht")


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        ("phone", "dark"),
        pytest.param("desktop", "light", marks=pytest.mark.slow),
        pytest.param("phone", "light", marks=pytest.mark.slow),
        pytest.param("desktop", "dark", marks=pytest.mark.slow),
    ],
)
def test_html_report_is_accessible(visit: Visit, tmp_path: Path, size: str, theme: str) -> None:
    file = tmp_path / "review.html"
    file.write_text(rendered_page(whole_game("axio"), "de" if theme == "dark" else "en"), encoding="utf-8")
    visitor = visit(size, theme="dark" if theme == "dark" else "light", service_worker=False)
    page = visitor.page
    page.goto(file.as_uri())
    settle(page)
    assert violations(visitor) == []
    assert horizontal_overflow(page, page.viewport_size["width"] if page.viewport_size else 0) == []
    shown = page.locator("article:visible")
    expect(shown).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_attribute("data-ply", "2")
    page.locator("#mistake").click()
    expect(shown).to_have_attribute("data-wrong", "1")
    candidates = shown.locator("button[data-candidate]")
    candidates.first.click()
    expect(candidates.first).to_have_attribute("aria-pressed", "true")
    assert page.locator(".picture [data-candidate]:not([hidden])").count() <= 1
    other_size = "phone" if size == "desktop" else "desktop"
    page.emulate_media(color_scheme="light" if theme == "dark" else "dark")
    page.set_viewport_size(SIZES[other_size])
    settle(page)
    assert violations(visitor) == []
    assert horizontal_overflow(page, SIZES[other_size]["width"]) == []


def test_review_is_shared_between_visitors(visit: Visit, stage: Stage) -> None:
    """Two visitors who open the review of a game at the same time get the same one."""
    first, second = visit(), visit("phone")
    for visitor in (first, second):
        stage.sign_in(visitor)
        visitor.set_settings(coach=False)
        visitor.goto(f"/t/{stage.daily}?move=1")
        visitor.click("#review")
    for visitor in (first, second):
        visitor.find("#review-dialog").wait_for(timeout=REVIEW_TIMEOUT)
    texts = {visitor.find("#review-dialog").inner_text() for visitor in (first, second)}
    assert len(texts) == 1
