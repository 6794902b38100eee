"""Who you are: a name, the same person on several devices, and leaving."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from .browsing import Visitor
from .conftest import Visit


def person(visitor: Visitor) -> str:
    return str(visitor.client.get("/api/me")["id"])


def test_a_name(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/me")
    page.locator("#name").fill("Nora <i>")
    visitor.click("#name-form button")
    expect(page.locator(".toast")).to_contain_text("saved")
    page.reload()
    expect(page.locator("#name")).to_have_value("Nora <i>")
    visitor.goto("/?new=hex")
    expect(page.locator("#new-table [data-seat='0'] [data-name]")).to_have_attribute(
        "placeholder", "Nora <i>"
    )
    expect(page.locator("#new-game")).to_have_value("hex")


def test_what_is_typed_before_the_page_knows_your_name_stays(visit: Visit) -> None:
    visitor = visit()
    held: list[Route] = []
    visitor.page.route("**/api/me", lambda route: held.append(route))
    page = visitor.goto("/me")
    page.locator("#name").fill("Early bird")
    while not held:
        page.wait_for_timeout(20)
    for route in held:
        route.continue_()
    page.unroute("**/api/me")
    expect(page.locator("#phrase-state")).not_to_be_empty()
    expect(page.locator("#name")).to_have_value("Early bird")


def test_a_phrase_moves_a_person_to_another_device(visit: Visit) -> None:
    here, there = visit(), visit("phone")
    here.client.open("axio", ["me", "greedy"])
    page = here.goto("/me")
    expect(page.locator("#phrase-state")).to_have_text("You have no phrase yet.")
    here.click("#phrase-form button")
    phrase = page.locator("#phrase").text_content() or ""
    assert len(phrase.split("-")) >= 3
    page.keyboard.press("Escape")
    expect(page.locator("#phrase-state")).to_have_text("You have a phrase.")

    there.goto("/me")
    assert person(there) != person(here)
    there.find("#enter-phrase").fill("no such words at all")
    there.allow("40[0-9]")
    there.click("#enter-form button")
    expect(there.find("#enter-form .error-text")).to_have_text(
        "Nobody here has this. Check how it is written and try again."
    )
    there.find("#enter-phrase").fill(f" {phrase} ")
    there.click("#enter-form button")
    expect(there.find("#continue > li")).to_have_count(1)
    assert person(there) == person(here)


def test_a_password_and_leaving(visit: Visit) -> None:
    here, there = visit(), visit()
    me = person(here)
    name = f"user{me[:8]}".replace("-", "x").replace("_", "y")
    page = here.goto("/me")
    page.locator("#account-username").fill(name)
    page.locator("#account-password").fill("correct horse")
    here.click("#account-form button")
    expect(page.locator("#account-state")).to_contain_text(name)
    expect(page.locator("#account-password")).to_have_value("")

    there.goto("/me")
    there.allow("40[0-9]")
    there.find("#login-username").fill(name)
    there.find("#login-password").fill("wrong horse")
    there.click("#login-form button")
    expect(there.find("#login-form .error-text")).to_contain_text("Nobody here has this.")
    there.find("#login-password").fill("correct horse")
    there.click("#login-form button")
    there.page.wait_for_url(f"{there.url}/")
    assert person(there) == me

    there.goto("/me")
    there.click("#leave-form button")
    there.click(there.find("dialog[open]").get_by_role("button", name="Leave on this device"))
    there.page.wait_for_url(f"{there.url}/")
    there.find("[data-play]").first.wait_for()
    assert person(there) != me
    assert person(here) == me
