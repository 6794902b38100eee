"""Text for a terminal: one line from anything, columns from rows, points in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence


def one_line(text: str) -> str:
    """The text without line breaks and without characters that would steer the terminal."""
    kept = "".join(character if unicodedata.category(character)[0] != "C" else " " for character in text)
    return " ".join(kept.split())


def in_columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: int = 0) -> list[str]:
    """Rows of cells as lines; the columns numbered in `right` are aligned there."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    to_right = set(right)
    lines = []
    for row in rows:
        cells = (
            cell.rjust(width) if column in to_right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, wide, strict=True))
        )
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def packed(sentences: Iterable[str], width: int) -> list[str]:
    """Sentences on as few lines as they fit on, none broken."""
    lines: list[str] = []
    for sentence in sentences:
        if lines and len(lines[-1]) + 1 + len(sentence) <= width:
            lines[-1] += f" {sentence}"
        else:
            lines.append(sentence)
    return lines


def points(gain: Mapping[str, int]) -> str:
    """Points by colour in words: `3 G, 2 R`."""
    return ", ".join(f"{count} {track}" for track, count in gain.items() if count) or "nothing"


def count(number: int, thing: str) -> str:
    """A number of things: `1 tile`, `2 tiles`, `3 entries`."""
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing[:-1]}ies" if thing.endswith("ry") else f"{number} {thing}s"
