"""Keyboard use: all controls can be reached, the focus is visible, and dialogs can be closed."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.playing import Player

MAX_TAB_STOPS = 120
# Returns the focused element, and whether it has a visible focus ring and a size.
FOCUS = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const frame = element.id === "board" && element.querySelector(".frame");
  const framed = frame && getComputedStyle(frame).strokeWidth === "10px";
  const label = element.closest("label");
  const labelOutlined = label !== null && getComputedStyle(label).outlineStyle !== "none";
  const { width, height } = element.getBoundingClientRect();
  return {
    index: [...document.querySelectorAll("*")].indexOf(element),
    name: element.id || element.dataset.hand || element.getAttribute("href") || element.textContent.trim(),
    visible: element.matches(":focus-visible") && Boolean(outlined || framed || labelOutlined),
    hasSize: width > 0 && height > 0,
  };
}"""


def tab_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MAX_TAB_STOPS):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement?.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by {key}")


def tab_stops(page: Page) -> list[str]:
    """Return the names of all tab stops of a page, and check that the focus is visible on each."""
    found: dict[int, str] = {}
    for _ in range(MAX_TAB_STOPS):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None:  # the controls of the browser
            continue
        if focus["index"] in found:
            return list(found.values())
        assert focus["hasSize"], f"{focus['name']} can be focused but has no size"
        assert focus["visible"], f"the focus on {focus['name']} is not visible"
        found[focus["index"]] = focus["name"]
    raise AssertionError(f"no cycle within {MAX_TAB_STOPS} tab stops; the last: {list(found.values())[-10:]}")


def place_by_keys(player: Player) -> None:
    """Make a placement: a digit, arrows, Enter, Enter."""
    page = player.page
    indices = page.locator("#hand button[aria-disabled=false]").evaluate_all(
        "tiles => tiles.map((tile) => tile.dataset.hand)"
    )
    if page.locator("#hand button[aria-pressed=true]").count() == 0:
        page.keyboard.press(str(int(indices[0]) + 1))
    expect(page.locator("#hand button[aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#board [data-preview]")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("r")
    if page.locator("#board [data-preview]").count() == 0:
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_enabled()
    page.keyboard.press("Enter")


def test_game_can_be_played_by_keyboard(visit: Visit) -> None:
    visitor = visit("desktop", short_pauses=True)
    page = visitor.goto("/")
    visitor.find("[data-play=axio]").wait_for()
    tab_to(page, ".skip")
    page.keyboard.press("Enter")
    tab_to(page, "[data-play=axio]")
    page.keyboard.press("Enter")
    player = Player(visitor)
    player.wait_for_action()
    page.locator("#tips .card").wait_for()
    while page.locator("#tips .card").is_visible():
        page.keyboard.press("Escape")  # closes one tip at a time

    moves = 0
    while (action := player.wait_for_action()) == "offer" or moves < 4:  # offers depend on the deal
        if action == "offer":
            tab_to(page, "#keep")
            page.keyboard.press("Enter")
        else:
            place_by_keys(player)
            moves += 1
    assert action == "place"
    page.keyboard.press("h")
    page.locator("#board .preview.pending").wait_for()
    expect(page.locator("#detail")).to_contain_text("Hint")
    page.keyboard.press("Enter")
    player.wait_for_action()
    assert len(visitor.messages.commands("move")) >= 5
    assert visitor.messages.refused == []
    assert visitor.messages.commands("hint")


def test_escape_closes_dialogs(visit: Visit) -> None:
    visitor = visit("desktop")
    visitor.set_settings(coach=False)
    table = visitor.client.open("hex", ["me", "greedy"]).id
    page = visitor.goto(f"/t/{table}")
    Player(visitor).wait_for_action()
    page.locator("#board").focus()
    for key, text in (("b", "Printed"), ("s", "You:"), ("?", "hint")):
        page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_contain_text(text)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(1)  # the closed handover dialog
        expect(page.locator("#board")).to_be_focused()
    tab_to(page, "#menu-button")
    page.keyboard.press("Enter")
    page.locator("dialog.menu").wait_for()
    dialog_has_focus = "() => Boolean(document.activeElement?.closest('dialog'))"
    assert page.evaluate(dialog_has_focus)
    page.keyboard.press("Escape")
    expect(page.locator("#menu-button")).to_be_focused()

    visitor.goto("/")
    tab_to(page, "#new")
    page.keyboard.press("Enter")
    page.locator("#new-table").wait_for()
    assert page.evaluate(dialog_has_focus)
    page.keyboard.press("Escape")
    expect(page.locator("#new-table")).to_have_count(0)
    expect(page.locator("#new")).to_be_focused()


def test_history_sheet_opens_and_closes_by_key(visit: Visit) -> None:
    visitor = visit("phone")
    visitor.set_settings(coach=False)
    page = visitor.goto(f"/t/{visitor.client.open('axio', ['me', 'greedy']).id}")
    Player(visitor).wait_for_action()
    page.keyboard.press("l")
    expect(page.locator("#history-panel")).to_be_visible()
    expect(page.locator("#history-close")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#history-panel")).to_be_hidden()
    expect(page.locator("#history-toggle")).to_be_focused()


def test_focus_cycles_and_is_visible(visit: Visit) -> None:
    visitor = visit("desktop")
    visitor.set_settings(coach=False)
    table = visitor.client.open("axio", ["me", "greedy"]).id
    page = visitor.goto(f"/t/{table}")
    Player(visitor).wait_for_action()
    page.keyboard.press("1")
    found = tab_stops(page)
    assert {"board", "0", "1", "menu-button", "hint", "turn-tile", "history"} <= set(found)
    for path, shown in (
        ("/", "[data-play]"),
        ("/me", "#set-language"),
        ("/daily", "[data-play]"),
        ("/rules/axio", "img"),
    ):
        visitor.goto(path)
        visitor.find(shown).first.wait_for()
        assert len(tab_stops(page)) > 4


def test_selection_is_announced(visit: Visit) -> None:
    visitor = visit("desktop")
    visitor.set_settings(coach=False)
    page = visitor.goto(f"/t/{visitor.client.open('axio', ['me', 'greedy']).id}")
    player = Player(visitor)
    player.wait_for_action()
    announcement = page.locator("#announcement")
    page.keyboard.press("1")
    expect(announcement).to_contain_text("places")
    page.keyboard.press("ArrowRight")
    expect(announcement).to_contain_text(" on ")
    page.keyboard.press("Enter")
    expect(announcement).to_contain_text("Enter confirms")
    page.keyboard.press("Enter")
    player.wait_for_action()
    expect(announcement).to_contain_text("Your turn")
