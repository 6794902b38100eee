"""Text for a terminal: single lines, tables, lists of points."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence


def one_line(text: str) -> str:
    """Return a text on one line, without control characters."""
    kept = "".join(character if unicodedata.category(character)[0] != "C" else " " for character in text)
    return " ".join(kept.split())


def format_table(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: int = 0) -> list[str]:
    """Return rows of cells as lines with aligned columns.

    Args:
        rows: cells, the same number in each row.
        right: indices of columns that are aligned to the right.
        indent: spaces before each line.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    to_right = set(right)
    lines = []
    for row in rows:
        cells = (
            cell.rjust(width) if column in to_right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def wrap_sentences(sentences: Iterable[str], width: int) -> list[str]:
    """Join sentences to as few lines as possible, without a line break inside a sentence."""
    lines: list[str] = []
    for sentence in sentences:
        if lines and len(lines[-1]) + 1 + len(sentence) <= width:
            lines[-1] += f" {sentence}"
        else:
            lines.append(sentence)
    return lines


def format_points(gain: Mapping[str, int]) -> str:
    """Return points by colour: `3 G, 2 R`."""
    return ", ".join(f"{points} {track}" for track, points in gain.items() if points) or "nothing"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 tile`, `2 tiles`, `3 entries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("ry") else f"{number} {noun}s"
