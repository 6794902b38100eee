"""Validation of names: they are visible and resemble no name of a bot."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from axiogames.players import PLAYERS
from axiogames.server.identity.names import (
    DELETED_NAME,
    MAX_MARKS,
    MAX_NAME_LENGTH,
    InvalidName,
    clean_name,
    clean_username,
)
from axiogames.server.storage.schema import people
from tests.server.in_process import running_app

# Ordinary characters, and characters of categories that a name must not contain or begin with.
PROBLEMATIC = st.sampled_from(
    "aZ1 é字🐙\u3164\uffa0\u115f\u2800\u034f\u200b\u200d\u202e\u2066\ufe0f\u00ad\u0301\u0300\u20dd\u0e33"
    "\u093f\u1100\u1161\ud7b0\U000e0041\U000e01ef\ud800\ue000\ufdd0\x00\x85\u2028\u00a0\u3000\u1680"
)
TEXTS = st.text(PROBLEMATIC | st.characters(), max_size=60)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_cleaned_names_are_visible(text: str) -> None:
    try:
        name = clean_name(text)
    except InvalidName:
        return
    assert 1 <= len(name) <= MAX_NAME_LENGTH
    assert name == " ".join(name.split()) == unicodedata.normalize("NFC", name) == clean_name(name)
    categories = [unicodedata.category(char) for char in name]
    assert not [category for category in categories if category[0] == "C" or category in ("Zl", "Zp")]
    assert not set(name) & set("\u3164\uffa0\u115f\u1160\u2800\u034f\ufe0f\u180b\ufffc")
    assert categories[0] not in ("Mn", "Me")
    marks = 0
    for category in categories:
        marks = marks + 1 if category in ("Mn", "Me") else 0
        assert marks <= MAX_MARKS


@pytest.mark.parametrize(
    "name",
    [
        "\u3164",
        "\u2800\u2800",
        "\U000e0041\U000e0042",
        "\u0301",
        " \u115f ",
        "\u202e\u2066",
        "\ufe0f",
        "\ue000",
    ],
    ids=ascii,
)
def test_invisible_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidName, match="1 to 24"):
        clean_name(name)


@pytest.mark.parametrize(
    ("entered", "shown"),
    [
        ("Zoe" + "\u0308" * 12, "Zoe" + "\u0308" * 3),
        ("A\u0301\u0302\u0303\u0304\u0305n", "\u00c1\u0302\u0303n"),
        ("e\u0301" * 24, "\u00e9" * 24),
        ("x\u3164y", "xy"),
        ("Ann\u00a0\u2003 Lee", "Ann Lee"),
        ("สวัสดีครับ", "สวัสดีครับ"),
        ("नमस्ते", "नमस्ते"),
        ("שלום", "שלום"),
        ("Гриша", "Гриша"),
        ("Ελένη", "Ελένη"),
        ("Ø", "Ø"),
        ("O'Neil-Łuk", "O'Neil-Łuk"),
        ("Level 9", "Level 9"),
        ("Randolf", "Randolf"),
    ],
    ids=ascii,
)
def test_cleaning_removes_only_excess_characters(entered: str, shown: str) -> None:
    assert clean_name(entered) == unicodedata.normalize("NFC", shown)


def fullwidth(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


CYRILLIC = str.maketrans("aeopcyxr", "аеорсухг")


@pytest.mark.parametrize("bot", [*PLAYERS, DELETED_NAME])
def test_names_of_bots_are_reserved(bot: str) -> None:
    forms = [
        bot, bot.upper(), bot.title(), f" {bot} ", " ".join(bot), "-".join(bot), f"{bot[0]}\u200b{bot[1:]}",
        f"{bot[0]}\u0301{bot[1:]}", bot.translate(CYRILLIC), f"{bot}!",
        *((f"Bot {bot}", f"{bot} bot", fullwidth(bot)) if bot in PLAYERS else ()),
    ]  # fmt: skip
    for form in (form for form in forms if len(form) <= MAX_NAME_LENGTH):
        with pytest.raises(InvalidName) as caught:
            clean_name(form)
        assert caught.value.code == "reserved_name", ascii(form)


@pytest.mark.parametrize(
    "name",
    [
        "ʟᴇᴠᴇʟ8",
        "ⓛⓔⓥⓔⓛ①",
        "𝐥𝐞𝐯𝐞𝐥𝟖",
        "level٨",
        "levelI",
        "lеvеl5",
        "gгeedy",
        "ɡreedy",
        "rаndοm",
        "🅻🅴🆅🅴🅻2",
        "ŁEVEL3",
        "leve|4",
        "Bot (hard)",
        "ＢＯＴ（８）",
        "level3 (me)",
    ],
    ids=ascii,
)
def test_lookalikes_of_bot_names_are_reserved(name: str) -> None:
    with pytest.raises(InvalidName, match="reserved"):
        clean_name(name)


def test_usernames_are_lower_case_ascii() -> None:
    assert clean_username(" Ann.Lee_7 ") == "ann.lee_7"
    for wrong in ("a", ".ann", "änn", "ann lee", "a" * 25, "аnn", "ann\n\x00", "ａｎｎ"):
        with pytest.raises(InvalidName):
            clean_username(wrong)


def test_stored_names_that_break_current_rules_are_loaded(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            row: dict[str, Any] = {
                "id": "ab" * 10,
                "name": "level8\u3164",
                "epoch": 0,
                "created": 1,
                "username": "greedy",
            }
            async with app.server.database.writing() as connection:
                await connection.execute(insert(people), [row])
            token = app.server.people.token(await app.server.people.find(row["id"]))
            assert (await app.call("GET", "/api/me", token))["name"] == "level8\u3164"
            body = {"game": "rota", "seats": [{"kind": "me"}]}
            table = (await app.call("POST", "/api/tables", token, body))["id"]
            assert (await app.call("GET", f"/api/tables/{table}", token))["seats"][0][
                "name"
            ] == "level8\u3164"
            person = await app.server.people.find(row["id"])
            changed = await app.server.people.set_password(person, "greedy", "correct horse 7")
            assert changed.username == "greedy"  # only new names are checked
            with pytest.raises(InvalidName, match="reserved"):
                await app.server.people.set_password(changed, "level1", "another 8", old="correct horse 7")

    asyncio.run(run())
