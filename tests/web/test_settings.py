"""Settings take effect and are stored."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player

# Records tones, and animations that are long enough to be noticed.
RECORD_EFFECTS = """
window.tones = 0;
window.animations = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...args) {
  window.tones += 1;
  return start.apply(this, args);
};
const animate = Element.prototype.animate;
Element.prototype.animate = function (...args) {
  window.animations.push(`animate ${this.id}`);
  return animate.apply(this, args);
};
window.noticeable = () => document.getAnimations().filter(({ effect }) => effect.getTiming().duration > 1);
for (const name of ["animationstart", "transitionrun"]) {
  const record = ({ animationName, propertyName, target }) =>
    noticeable().length && window.animations.push(`${name} ${animationName ?? propertyName} ${target.id}`);
  document.addEventListener(name, record, true);
}
"""


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def start_game(visitor: Visitor, game: str = "axio") -> Player:
    """Start a game against a fast bot."""
    visitor.goto(f"/t/{visitor.client.open(game, ['me', 'greedy']).id}")
    player = Player(visitor)
    player.wait_for_action()
    return player


def test_theme_setting_overrides_the_system(visit: Visit) -> None:
    visitor = visit(theme="light")
    page = visitor.goto("/me")
    light = background(page)
    visitor.click("label:has(#set-theme-dark)")
    dark = background(page)
    assert dark != light
    visitor.goto("/rules")
    assert background(page) == dark
    page.emulate_media(color_scheme="dark")
    visitor.goto("/me")
    visitor.click("label:has(#set-theme-light)")
    assert background(page) == light
    visitor.click("label:has(#set-theme-auto)")
    assert background(page) == dark, "the preference of the system"


def test_language_setting_translates_all_pages(visit: Visit) -> None:
    visitor = visit(language="en")
    page = visitor.goto("/me")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator("#set-language").select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("[data-nav='/rules']")).to_have_text("Regeln")
    visitor.goto("/")
    expect(page.locator("#games-title")).to_have_text("Spiele")
    german = visit(language="de")
    german.goto("/")
    expect(german.find("html")).to_have_attribute("lang", "de")


def test_one_click_places_without_confirmation(visit: Visit) -> None:
    visitor = visit(short_pauses=True)
    page = visitor.goto("/me")
    visitor.click("label[for=set-confirm]")
    assert visitor.stored_settings()["confirm"] is False
    player = start_game(visitor)
    before = visitor.actions
    player.select_tile()
    player.put_down()
    visitor.wait_until("() => document.querySelectorAll('#board .tiles > g').length >= 1")
    player.wait_for_action()
    assert visitor.actions - before == 2
    assert len(visitor.messages.commands("move")) == 1
    expect(page.locator("#confirm")).to_be_disabled()


def test_manual_draw_allows_taking_back_a_move(visit: Visit) -> None:
    visitor = visit(short_pauses=True)
    visitor.set_settings(hold=True, coach=False)
    player = start_game(visitor)
    page = player.page
    before = page.locator("#board .tiles > g").count()
    player.place()
    assert player.wait_for_action() == "draw"
    assert page.locator("#board .tiles > g").count() == before + 1
    visitor.click("#back")
    assert player.wait_for_action() == "place"
    assert page.locator("#board .tiles > g").count() == before
    player.place()
    assert player.wait_for_action() == "draw"
    visitor.click("#draw")
    expect(page.locator("#draw")).to_be_hidden()
    player.wait_for_action()
    assert visitor.messages.refused == []


def test_muted_sound_stays_muted(visit: Visit) -> None:
    visitor = visit(short_pauses=True)
    visitor.context.add_init_script(RECORD_EFFECTS)
    visitor.set_settings(coach=False)
    player = start_game(visitor)
    page = player.page
    player.act()
    player.wait_for_action()
    assert page.evaluate("tones") > 0
    visitor.click("#mute")
    expect(page.locator("#mute")).to_have_attribute("aria-pressed", "true")
    page.reload()
    player.wait_for_action()
    expect(page.locator("#mute")).to_have_attribute("aria-pressed", "true")
    player.act()
    player.wait_for_action()
    assert page.evaluate("tones") == 0
    assert visitor.stored_settings()["sound"] is False


def test_disabled_tips_stay_disabled(visit: Visit) -> None:
    visitor = visit("phone", short_pauses=True)
    player = start_game(visitor)
    page = player.page
    card = page.locator("#tips .card")
    expect(page.locator("#tip-text")).to_have_text(re.compile(".{20}"))
    while card.is_visible():
        visitor.click("#tip-next")
    player.select_tile()  # shows the next tip
    card.wait_for()
    visitor.click("#tips-off")
    expect(card).to_be_hidden()
    player.act()
    player.wait_for_action()
    expect(card).to_be_hidden()
    page.reload()
    player.wait_for_action()
    expect(card).to_be_hidden()
    start_game(visitor, "rota")
    expect(card).to_be_hidden()
    assert visitor.stored_settings()["coach"] is False


def test_reduced_motion_stops_animations(visit: Visit) -> None:
    visitor = visit(reduced_motion=True)
    visitor.context.add_init_script(RECORD_EFFECTS)
    player = start_game(visitor)
    page = player.page
    expect(page.locator("html")).to_have_attribute("data-motion", "reduced")
    for _ in range(2):
        player.act()
        player.wait_for_action()
    player.select_tile()
    player.put_down()
    visitor.click("#menu-button")
    assert page.evaluate("animations") == []
    assert page.evaluate("noticeable().length") == 0
    page.keyboard.press("Escape")
    visitor.goto("/me")
    visitor.click("label:has(#set-motion-full)")
    expect(page.locator("html")).not_to_have_attribute("data-motion", "reduced")
