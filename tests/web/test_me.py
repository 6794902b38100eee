"""Identity: name, several devices, signing out, personal data."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Route, expect

from axiogames.server.identity.tokens import Tokens
from tests.web.browsing import PAGE_TIMEOUT, Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player

PASSWORD = "correct horse"


def person_id(visitor: Visitor) -> str:
    """Return the id of the visitor's person."""
    return str(visitor.client.get("/api/me")["id"])


def test_name_can_be_changed(visit: Visit) -> None:
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


def test_typed_name_survives_late_response(visit: Visit) -> None:
    visitor = visit()
    delayed: list[Route] = []
    visitor.page.route("**/api/me", lambda route: delayed.append(route))
    page = visitor.goto("/me")
    page.locator("#name").fill("Early bird")
    while not delayed:
        page.wait_for_timeout(20)
    for route in delayed:
        route.continue_()
    page.unroute("**/api/me")
    expect(page.locator("#phrase-state")).not_to_be_empty()
    expect(page.locator("#name")).to_have_value("Early bird")


def test_phrase_signs_in_on_another_device(visit: Visit) -> None:
    first, second = visit(), visit("phone")
    first.client.open("axio", ["me", "greedy"])
    page = first.goto("/me")
    expect(page.locator("#phrase-state")).to_have_text("You have no phrase yet.")
    first.click("#phrase-form button")
    phrase = page.locator("#phrase").text_content() or ""
    assert len(phrase.split("-")) >= 3
    page.keyboard.press("Escape")
    expect(page.locator("#phrase-state")).to_have_text("You have a phrase.")

    second.goto("/me")
    assert person_id(second) != person_id(first)
    second.find("#enter-phrase").fill("no such words at all")
    second.allow("40[0-9]")
    second.click("#enter-form button")
    expect(second.find("#enter-form .error-text")).to_have_text(
        "Nobody here has this. Check how it is written and try again."
    )
    second.find("#enter-phrase").fill(f" {phrase} ")
    second.click("#enter-form button")
    expect(second.find("#continue > li")).to_have_count(1)
    assert person_id(second) == person_id(first)


def test_password_signs_in_and_signing_out_creates_a_new_guest(visit: Visit) -> None:
    first, second = visit(), visit()
    me = person_id(first)
    name = f"user{me[:8]}".replace("-", "x").replace("_", "y")
    page = first.goto("/me")
    page.locator("#account-username").fill(name)
    page.locator("#account-password").fill(PASSWORD)
    first.click("#account-form button")
    expect(page.locator("#account-state")).to_contain_text(name)
    expect(page.locator("#account-password")).to_have_value("")

    second.goto("/me")
    second.allow("40[0-9]")
    second.find("#login-username").fill(name)
    second.find("#login-password").fill("wrong horse")
    second.click("#login-form button")
    expect(second.find("#login-form .error-text")).to_contain_text("Nobody here has this.")
    second.find("#login-password").fill(PASSWORD)
    second.click("#login-form button")
    second.page.wait_for_url(f"{second.url}/")
    assert person_id(second) == me

    second.goto("/me")
    second.click("#leave-form button")
    second.click(second.find("dialog[open]").get_by_role("button", name="Leave on this device"))
    second.page.wait_for_url(f"{second.url}/")
    second.find("[data-play]").first.wait_for()
    assert person_id(second) != me
    assert person_id(first) == me


def test_password_change_needs_the_old_one_and_signs_out_other_devices(visit: Visit) -> None:
    first, second = visit(), visit()
    me = person_id(first)
    name = f"user{me[:8]}"
    send(first, "/api/me/account", username=name, password=PASSWORD)
    send(second, "/api/enter", username=name, password=PASSWORD)
    table = second.client.open("axio", ["me", "greedy"]).id
    second.goto(f"/t/{table}")
    second.find("#hand button").first.wait_for()
    page = first.goto("/me")
    first.allow("40[0-9]")
    second.allow("40[0-9]")
    page.locator("#account-old").fill("wrong horse")
    page.locator("#account-password").fill("another horse")
    first.click("#account-form button")
    expect(page.locator("#account-form .error-text")).to_contain_text("Nobody here has this.")
    page.locator("#account-old").fill(PASSWORD)
    first.click("#account-form button")
    expect(page.locator(".toast")).to_contain_text("All other devices are signed out.")
    expect(page.locator("#account-old")).to_have_value("")
    expect(second.find("#load-error-why")).to_contain_text("signed you out on this device")
    assert person_id(first) == me
    second.page.reload()
    with second.page.expect_event("load"):
        second.click(second.find("#stranger").get_by_role("button", name="Start as a new guest"))
    assert person_id(second) != me


def test_new_phrase_needs_the_password(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/me")
    expect(page.locator("#phrase-state")).not_to_be_empty()
    expect(page.locator("#phrase-old")).to_be_hidden()
    send(visitor, "/api/me/account", username=f"user{person_id(visitor)[:8]}", password=PASSWORD)
    visitor.goto("/me")
    visitor.allow("40[0-9]")
    page.locator("#phrase-old").fill("wrong horse")
    visitor.click("#phrase-form button")
    expect(page.locator("#phrase-form .error-text")).to_contain_text("Nobody here has this.")
    page.locator("#phrase-old").fill(PASSWORD)
    visitor.click("#phrase-form button")
    expect(page.locator("#phrase")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.locator("#phrase-state")).to_have_text("You have a phrase.")
    expect(page.locator("#phrase-old")).to_have_value("")


def test_table_reconnects_in_the_browser_that_changes_the_password(visit: Visit) -> None:
    visitor = visit(short_pauses=True)
    name = f"user{person_id(visitor)[:8]}"
    send(visitor, "/api/me/account", username=name, password=PASSWORD)
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{visitor.client.open('axio', ['me', 'greedy']).id}")
    player = Player(visitor)
    player.wait_for_action()
    before = len(visitor.messages.received)
    visitor.allow("401")  # the page may send the old cookie before it has the new one
    send(visitor, "/api/me/account", username=name, password="another horse", old_password=PASSWORD)
    for _ in range(PAGE_TIMEOUT // 20):  # until the page has opened a new socket
        if len(visitor.messages.received) > before:
            break
        visitor.page.wait_for_timeout(20)
    expect(visitor.find("#connection")).to_be_hidden()
    player.act()
    player.wait_for_action()
    assert visitor.messages.refused == []


def test_personal_data_export_and_deletion(visit: Visit) -> None:
    visitor = visit()
    me = person_id(visitor)
    visitor.client.patch("/api/me", {"name": "Vanishing"})
    send(visitor, "/api/me/account", username=f"user{me[:8]}", password=PASSWORD)
    table = visitor.client.open("axio", ["me", "greedy"]).id
    page = visitor.goto("/me")
    with page.expect_download() as download:
        visitor.click("#export-form button")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert download.value.suggested_filename == "Vanishing.json"
    assert (saved["id"], saved["name"]) == (me, "Vanishing")
    assert [entry["id"] for entry in saved["tables"]] == [table]

    visitor.allow("40[0-9]")
    visitor.find("#delete-password").fill("wrong horse")
    visitor.click("#delete-form button")
    visitor.click(visitor.find("dialog[open]").get_by_role("button", name="Delete for good"))
    expect(visitor.find("#delete-form .error-text")).to_contain_text("Nobody here has this.")
    visitor.find("#delete-password").fill(PASSWORD)
    visitor.click("#delete-form button")
    visitor.click(visitor.find("dialog[open]").get_by_role("button", name="Delete for good"))
    page.wait_for_url(f"{visitor.url}/")
    visitor.find("[data-play]").first.wait_for()
    assert person_id(visitor) != me


def test_unreadable_cookie_asks_before_new_identity(visit: Visit) -> None:
    visitor = visit()
    unreadable: Any = {
        **identity_cookie(visitor),
        "value": Tokens(["another key of the server " * 2]).make("ab" * 10, 0),
    }
    visitor.context.add_cookies([unreadable])
    visitor.allow("40[0-9]")
    page = visitor.goto("/")
    expect(page.locator("#stranger")).to_contain_text("can no longer read who you are")
    page.keyboard.press("Escape")
    assert identity_cookie(visitor)["value"] == unreadable["value"]  # the identity is kept
    for path in ("/me", "/daily", "/rules", f"/t/{visit().client.open('axio', ['me', 'open']).id}", "/"):
        visitor.goto(path)
        visitor.find("#stranger").wait_for()
    visitor.click(visitor.find("#stranger").get_by_role("button", name="Start as a new guest"))
    visitor.find("[data-play]").first.wait_for()
    visitor.wait_until("() => !document.querySelector('#stranger')")
    assert identity_cookie(visitor)["value"] != unreadable["value"]


def send(visitor: Visitor, path: str, **body: str) -> None:
    """Send a request from the browser context, whose cookie may change."""
    visitor.ensure_identity()
    response = visitor.context.request.post(visitor.url + path, data=body, headers={"Origin": visitor.url})
    assert response.ok, response.text()


def identity_cookie(visitor: Visitor) -> Any:
    visitor.ensure_identity()
    (cookie,) = [cookie for cookie in visitor.context.cookies() if cookie["name"] == "who"]
    return cookie
