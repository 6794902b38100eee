"""Validation of display names and usernames: visible characters only, and no names of bots."""

from __future__ import annotations

import re
import unicodedata

from ...errors import AxioError
from ...players import PLAYERS

MAX_NAME_LENGTH = 24
MAX_MARKS = 2  # combining marks per letter, after NFC normalization
DELETED_NAME = "Deleted player"
"""Name of a person whose data were deleted."""

USERNAME = re.compile(r"[a-z0-9][a-z0-9_.-]{1,23}")

# Invisible letters, marks and symbols that Unicode does not classify as format characters.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)

# Letters of other scripts that look like Latin ones, for the letters in names of bots.
_LOOKALIKES = str.maketrans(
    dict(
        zip(
            "\u0410\u0430\u0391\u03b1\u0251\u13aa\ua4ee"  # a
            "\u0412\u0432\u0392\u0432\u13f4\ua4d0"  # b
            "\u0421\u0441\u03f9\u03f2\u13df\ua4da"  # c
            "\u0500\u0501\u13a0\ua4d3"  # d
            "\u0415\u0435\u0395\u03b5\u13ac\ua4f0\u212e\u0454"  # e
            "\u050c\u050d\u0581\u0261\u13c0\ua4d6"  # g
            "\u0406\u0456\u0399\u03b9\u04c0\u04cf\u0131\u13de\ua4e1\ua4f2\u2223|"  # i and l
            "\u041c\u043c\u039c\u13b7\ua4df"  # m
            "\u039d\ua4e0\u0578\u057c\u043f"  # n
            "\u041e\u043e\u039f\u03bf\u0555\u0585\ua4f3\u0c66"  # o
            "\u0420\u0440\u03a1\u03c1\ua4d1"  # p
            "\u042f\u0433\u13a1\u13d2\ua4e3"  # r
            "\u0405\u0455\u13da\ua4e2"  # s
            "\u0422\u0442\u03a4\u03c4\ua4d4"  # t
            "\u03bd\u0474\u0475\u13d9\ua4e6"  # v
            "\u0423\u0443\u03a5\u03c5\u04ae\u04af\u03b3\u13bd\ua4ec",  # y
            "aaaaaaa" "bbbbbb" "cccccc" "dddd" "eeeeeeee" "gggggg" "llllllllllll" "mmmmm" "nnnnn"
            "oooooooo" "ppppp" "rrrrr" "ssss" "ttttt" "vvvvv" "yyyyyyyyy",
            strict=True,
        )
    )
)  # fmt: skip
_LATIN = re.compile(r"(?:LATIN|REGIONAL INDICATOR SYMBOL) .*?LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH .*)?$")


class InvalidName(AxioError):
    """A name, username or password is not allowed. `code` is the error code for clients."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def clean_name(name: str) -> str:
    """Return the display form of a name.

    Invisible characters, characters that change the writing direction and excess combining marks are removed.

    Raises:
        InvalidName: The result is empty or too long, or looks like the name of a bot.
    """
    name = _limit_marks(unicodedata.normalize("NFC", _visible_characters(name)))
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise InvalidName(
            "bad_name", f"a name has 1 to {MAX_NAME_LENGTH} visible characters, not {len(name)}"
        )
    check_not_reserved(name)
    return name


def clean_username(username: str) -> str:
    """Return the canonical form of a username. Raises `InvalidName`."""
    username = username.strip().lower()
    if not USERNAME.fullmatch(username):
        raise InvalidName(
            "bad_username",
            "a username has 2 to 24 of a-z, 0-9, '.', '_' and '-', and starts with a letter or digit",
        )
    return username


def check_not_reserved(name: str) -> None:
    """Raise `InvalidName` for a name that looks like that of a bot or of a deleted person."""
    # The page shows a bot as "Bot (3 · casual)", translated.
    prefix = unicodedata.normalize("NFKC", name).partition("(")[0]
    if {_skeleton(name), _skeleton(prefix)} & _RESERVED:
        raise InvalidName("reserved_name", f"the name {name} is reserved; choose another")


def guest_name(person: str) -> str:
    """Return the default name of a guest."""
    return f"Guest {person[:4]}"


def _visible_characters(text: str) -> str:
    """Return the visible characters of `text`, with single spaces between words."""
    text = _BLANK.sub("", " ".join(text.split()))
    # Category C: control and format characters, surrogates, private use, unassigned.
    return " ".join("".join(char for char in text if unicodedata.category(char)[0] != "C").split())


def _limit_marks(text: str) -> str:
    """Return `text` with at most `MAX_MARKS` combining marks per letter, and none without a letter."""
    result: list[str] = []
    marks = MAX_MARKS
    for char in text:
        if unicodedata.category(char) in ("Mn", "Me"):
            if marks == MAX_MARKS:
                continue
            marks += 1
        elif char.isspace():
            marks = MAX_MARKS
        elif not (unicodedata.category(char) == "Mc" and result):
            marks = 0
        result.append(char)
    return "".join(result)


def _skeleton(name: str) -> str:
    """Return a key for visual comparison: letters and digits without case, width, accents and spaces."""
    key = []
    for char in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).translate(_LOOKALIKES)):
        digit = unicodedata.digit(char, None)
        if digit is not None:
            key.append("ol23456789"[digit])
        elif latin := _LATIN.search(unicodedata.name(char, "")):
            key.append({"I": "l"}.get(latin[1], latin[1].lower()))
        elif unicodedata.category(char)[0] == "L":
            key.append(char.casefold())
    return "".join(key)


_RESERVED = frozenset(
    _skeleton(form) for bot in (*PLAYERS, "bot") for form in (bot, f"bot {bot}", f"{bot} bot")
) | {_skeleton(DELETED_NAME)}
