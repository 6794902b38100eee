"""Identity: name, several devices, sign-out, personal data."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Route, expect

from axiogames.server.identity.tokens import Tokens
from tests.web.browsing import PATIENCE, Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player

PASSWORD = "correct horse"


def person(visitor: Visitor) -> str:
    return str(visitor.client.get("/api/me")["id"])


def test_change_name(visit: Visit) -> None:
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


def test_phrase_signs_in_on_another_device(visit: Visit) -> None:
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


def test_password_and_sign_out(visit: Visit) -> None:
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


def test_password_change_needs_the_old_one_and_signs_out_other_devices(visit: Visit) -> None:
    here, there = visit(), visit()
    me = person(here)
    name = f"user{me[:8]}"
    send(here, "/api/me/account", username=name, password=PASSWORD)
    send(there, "/api/enter", username=name, password=PASSWORD)
    table = there.client.open("axio", ["me", "greedy"]).id
    there.goto(f"/t/{table}")
    there.find("#hand button").first.wait_for()
    page = here.goto("/me")
    here.allow("40[0-9]")
    there.allow("40[0-9]")
    page.locator("#account-old").fill("wrong horse")
    page.locator("#account-password").fill("another horse")
    here.click("#account-form button")
    expect(page.locator("#account-form .error-text")).to_contain_text("Nobody here has this.")
    page.locator("#account-old").fill("correct horse")
    here.click("#account-form button")
    expect(page.locator(".toast")).to_contain_text("All other devices are signed out.")
    expect(page.locator("#account-old")).to_have_value("")
    expect(there.find("#load-error-why")).to_contain_text("signed you out on this device")
    assert person(here) == me
    there.page.reload()
    there.click(there.find("#stranger").get_by_role("button", name="Start as a new guest"))
    there.page.wait_for_event("load")
    assert person(there) != me


def test_new_phrase_needs_the_password(visit: Visit) -> None:
    visitor = visit()
    page = visitor.goto("/me")
    expect(page.locator("#phrase-state")).not_to_be_empty()
    expect(page.locator("#phrase-old")).to_be_hidden()
    send(visitor, "/api/me/account", username=f"user{person(visitor)[:8]}", password=PASSWORD)
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


def test_table_stays_connected_where_the_password_is_changed(visit: Visit) -> None:
    visitor = visit(hurry=True)
    name = f"user{person(visitor)[:8]}"
    send(visitor, "/api/me/account", username=name, password=PASSWORD)
    visitor.set(coach=False)
    visitor.goto(f"/t/{visitor.client.open('axio', ['me', 'greedy']).id}")
    player = Player(visitor)
    player.due()
    before = len(visitor.messages.received)
    visitor.allow("401")  # the page may send the old cookie before it has the new one
    send(visitor, "/api/me/account", username=name, password="another horse", old_password=PASSWORD)
    for _ in range(PATIENCE // 20):  # until the page has opened another socket
        if len(visitor.messages.received) > before:
            break
        visitor.page.wait_for_timeout(20)
    expect(visitor.find("#connection")).to_be_hidden()
    player.act()
    player.due()
    assert visitor.messages.refused == []


def test_personal_data_export_and_deletion(visit: Visit) -> None:
    visitor = visit()
    me = person(visitor)
    visitor.client.patch("/api/me", {"name": "Vanishing"})
    send(visitor, "/api/me/account", username=f"user{me[:8]}", password=PASSWORD)
    table = visitor.client.open("axio", ["me", "greedy"]).id
    page = visitor.goto("/me")
    with page.expect_download() as download:
        visitor.click("#export-form button")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert download.value.suggested_filename == "Vanishing.json"
    assert (saved["id"], saved["name"]) == (me, "Vanishing")
    assert [one["id"] for one in saved["tables"]] == [table]

    visitor.allow("40[0-9]")
    visitor.find("#delete-password").fill("wrong horse")
    visitor.click("#delete-form button")
    visitor.click(visitor.find("dialog[open]").get_by_role("button", name="Delete for good"))
    expect(visitor.find("#delete-form .error-text")).to_contain_text("Nobody here has this.")
    visitor.find("#delete-password").fill("correct horse")
    visitor.click("#delete-form button")
    visitor.click(visitor.find("dialog[open]").get_by_role("button", name="Delete for good"))
    page.wait_for_url(f"{visitor.url}/")
    visitor.find("[data-play]").first.wait_for()
    assert person(visitor) != me


def test_unreadable_cookie_asks_before_new_identity(visit: Visit) -> None:
    visitor = visit()
    before: Any = {**cookie(visitor), "value": Tokens(["another key of the server " * 2]).make("ab" * 10, 0)}
    visitor.context.add_cookies([before])
    visitor.allow("40[0-9]")
    page = visitor.goto("/")
    expect(page.locator("#stranger")).to_contain_text("can no longer read who you are")
    page.keyboard.press("Escape")
    assert cookie(visitor)["value"] == before["value"]  # the identity is kept
    for path in ("/me", "/daily", "/rules", f"/t/{visit().client.open('axio', ['me', 'open']).id}", "/"):
        visitor.goto(path)
        visitor.find("#stranger").wait_for()
    visitor.click(visitor.find("#stranger").get_by_role("button", name="Start as a new guest"))
    visitor.find("[data-play]").first.wait_for()
    visitor.until("() => !document.querySelector('#stranger')")
    assert cookie(visitor)["value"] != before["value"]


def send(visitor: Visitor, path: str, **body: str) -> None:
    """Send a request from the page, so that its cookie may change."""
    visitor.ensure_identity()
    answer = visitor.context.request.post(visitor.url + path, data=body, headers={"Origin": visitor.url})
    assert answer.ok, answer.text()


def cookie(visitor: Visitor) -> Any:
    visitor.ensure_identity()
    (found,) = [one for one in visitor.context.cookies() if one["name"] == "who"]
    return found
