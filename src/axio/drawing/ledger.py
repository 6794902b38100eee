"""The panels of the seats in a terminal: name, points, hand."""

from __future__ import annotations

from axio.drawing.scene import Scene, Seat, Track
from axio.drawing.sheet import PLAIN, Ink, Sheet, columns, cut, safe
from axio.drawing.signs import ACCENT, FAINT, Signs, letter_ink

NARROW = 22
"""Least width of a panel."""

GAP = 3
_TRACK = 25, 38
"""A panel at least twice the first wide has two tracks on a line; none is wider than the second."""


def write(scene: Scene, sheet: Sheet, signs: Signs, *, colour: bool, width: int) -> None:
    """Write all panels beside or below what is on the sheet."""
    if not scene.seats:
        return
    left, top, right, bottom = sheet.bounds()
    room = width - (right - left) - GAP
    if room >= NARROW:
        panels, room, line = 1, min(room, _TRACK[1]), top
        left = right + GAP
    else:
        panels, line = min(2, len(scene.seats)), bottom + 1
        room = (width - GAP * (panels - 1)) // panels
    for start in range(0, len(scene.seats), panels):
        ends = [
            _Panel(sheet, signs, left + index * (room + GAP), room, colour=colour).write(seat, line)
            for index, seat in enumerate(scene.seats[start : start + panels])
        ]
        line = max(ends) + 1
    if scene.unseen:
        sheet.put(left, line, f"{scene.unseen} unseen", FAINT)


class _Panel:
    """A place on the sheet for one seat."""

    def __init__(self, sheet: Sheet, signs: Signs, left: int, room: int, *, colour: bool) -> None:
        self.sheet = sheet
        self.signs = signs
        self.left = left
        self.room = room
        self.colour = colour

    def write(self, seat: Seat, line: int) -> int:
        """Write the seat from `line` on and return the line after it."""
        self._head(seat, line)
        line += 1
        across = 2 if self.room >= 2 * _TRACK[0] - GAP and len(seat.tracks) > 1 else 1
        wide = min((self.room - 2 - GAP * (across - 1)) // across, _TRACK[1])
        lowest = seat.lowest()
        for index, track in enumerate(seat.tracks):
            left = self.left + 2 + index % across * (wide + GAP)
            self._track(track, left, line + index // across, wide, low=track.points == lowest)
        line += -(-len(seat.tracks) // across)
        return self._hand(seat, line)

    def _head(self, seat: Seat, line: int) -> None:
        behind = [f"{seat.hidden} hidden"] if seat.hidden else []
        behind += [f"#{seat.place}"] if seat.place is not None else []
        end = "  ".join(behind)
        name = cut(safe(seat.name, unicode=self.signs.unicode), self.room - 3 - len(end))
        if seat.to_move:
            self.sheet.put(self.left, line, self.signs.turn, ACCENT)
        after = self.sheet.put(self.left + 2, line, name, Ink(bold=True))
        if end:
            self.sheet.put(after + 2, line, end, FAINT)

    def _track(self, track: Track, left: int, line: int, wide: int, *, low: bool) -> None:
        """`* R ====.... 12 <`: symbol, letter, points as a bar and a number, a sign behind the lowest."""
        known = len(track.colour) == 1
        head = (
            f"{self.signs.glyph(track.colour)} {track.colour} "
            if known and self.signs.unicode
            else f"{track.colour} "
        )
        ink = letter_ink(track.colour, tile=False)
        column = self.sheet.put(left, line, head, ink)
        number = f"{track.points:>3}"
        if track.cap is not None:
            bar = max(1, min(wide - columns(head) - len(number) - 2, track.cap))
            full = min(bar, -(-track.points * bar // max(track.cap, 1)))
            column = self.sheet.put(column, line, self.signs.full * full, ink)
            column = self.sheet.put(column, line, self.signs.hollow * (bar - full), FAINT)
        column = self.sheet.put(column, line, number, Ink(bold=True) if low else PLAIN)
        if low:
            self.sheet.put(column + 1, line, self.signs.low, ACCENT)

    def _hand(self, seat: Seat, line: int) -> int:
        """Tiles as symbols with the letters a person types."""
        if not seat.hand:
            return line
        column = self.left + 2
        for scene in seat.hand:
            letters = scene.title
            wide = len(letters) * 2 + 1 if self.signs.unicode else len(letters)
            if column > self.left + 2 and column + wide > self.left + self.room:
                column, line = self.left + 2, line + 1
            if self.signs.unicode:
                for letter in letters:
                    column = self.sheet.put(
                        column, line, self.signs.glyph(letter), letter_ink(letter, tile=True)
                    )
                column += 1
            for letter in letters:
                ink = PLAIN if self.signs.unicode else letter_ink(letter, tile=True)
                column = self.sheet.put(column, line, letter, ink)
            column += 2
        return line + 1
