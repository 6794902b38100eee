"""Adding up the results of many games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .lines import in_columns


class Tally:
    """Who won how often, and with how many points."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games = 0
        self.one_track = False
        seats = len(self.names)
        self._alone, self._shared = [0] * seats, [0] * seats
        self._points, self._lowest = [0] * seats, [0] * seats

    def add(self, scores: Sequence[Mapping[str, int]], winners: Sequence[int]) -> None:
        """Count a finished game."""
        self.games += 1
        for seat in winners:
            (self._alone if len(winners) == 1 else self._shared)[seat] += 1
        for seat, points in enumerate(scores):
            self._points[seat] += sum(points.values())
            self._lowest[seat] += min(points.values())
            self.one_track = len(points) == 1

    def seats(self) -> list[dict[str, Any]]:
        """A row for each seat."""
        return [
            {
                "seat": seat,
                "player": name,
                "wins": self._alone[seat],
                "shared": self._shared[seat],
                "mean_points": round(self._points[seat] / self.games, 4),
                "mean_lowest": round(self._lowest[seat] / self.games, 4),
            }
            for seat, name in enumerate(self.names)
        ]

    def lines(self) -> list[str]:
        """The rows as a table for people."""
        head = ["seat", "player", "wins", "shared", "mean points", "mean lowest"]
        rows = [
            [
                str(row["seat"]),
                row["player"],
                str(row["wins"]),
                str(row["shared"]),
                f"{row['mean_points']:.2f}",
                f"{row['mean_lowest']:.2f}",
            ]
            for row in self.seats()
        ]
        # With one kind of points there is no lowest colour to speak of.
        shown = len(head) - 1 if self.one_track else len(head)
        return in_columns([row[:shown] for row in (head, *rows)], right=(2, 3, 4, 5))
