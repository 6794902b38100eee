"""Errors are explained in a sentence that names the remedy and contains no codes."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.server.driving import RunningServer
from tests.web.conftest import Visit

CODE = re.compile(r"\b[45]\d\d\b|[a-z]_[a-z]|undefined|null|\{|\[object")
MAX_TABLES = 40


def expect_sentence(element: Locator, *parts: str) -> None:
    """Check that an element shows a sentence that contains all parts and no codes."""
    expect(element).to_be_visible()
    for part in parts:
        expect(element).to_contain_text(part)
    text = element.inner_text()
    assert re.search(r"\w+ \w+ \w+.*[.!]", text), text
    assert not CODE.search(text), text


def test_missing_table_is_explained(visit: Visit) -> None:
    visitor = visit()
    visitor.allow("404")
    visitor.goto("/t/nothing-here")
    expect_sentence(visitor.find("#load-error"), "There is nothing here", "mistyped")
    expect(visitor.find("#play")).to_be_hidden()
    expect(visitor.find("#again")).to_be_hidden()
    visitor.click("#load-error a")
    visitor.find("[data-play]").first.wait_for()


def test_missing_page_is_explained(visit: Visit) -> None:
    visitor = visit()
    visitor.allow("404")
    visitor.goto("/no/such/page")
    expect_sentence(visitor.find("main"), "There is nothing here")
    visitor.goto("/rules/nothing")
    expect_sentence(visitor.find("main"), "There is no such game.")


def test_join_fails_when_last_seat_is_taken(visit: Visit, site: RunningServer) -> None:
    visitor = visit()
    visitor.allow("40[0-9]")
    cat, tom = site.guest("Cat"), site.guest("Tom")
    table = cat.open("axio", ["me", "open"], public=True)
    visitor.goto("/")
    button = visitor.find(f"[data-join='{table.id}']")
    button.wait_for()
    tom.join(table)
    visitor.click(button)
    expect_sentence(visitor.find(".toast-error p"))
    friend = visit()
    friend.goto(f"/t/{table.id}#invite={table.invite}")
    expect(friend.find("#detail")).to_have_text("You are watching.")


def test_table_limit_is_explained(visit: Visit) -> None:
    visitor = visit()
    visitor.allow("429")
    for _ in range(MAX_TABLES):
        visitor.client.open("rota", ["me", "open"])
    visitor.goto("/")
    visitor.click("[data-play=rota]")
    expect_sentence(visitor.find(".toast-error p"), "Too many tables are open")
    expect(visitor.find("[data-play=rota]")).not_to_have_attribute("aria-busy", "true")
    visitor.click("#new")
    visitor.click("#new-start")
    expect_sentence(visitor.find("#new-table .error-text"), "Too many tables are open")
