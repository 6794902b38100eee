"""The panels of the seats in a terminal: name, points, hand."""

from __future__ import annotations

from dataclasses import dataclass

from ..scene import Scene, Seat, Track
from .canvas import ACCENT, FAINT, PLAIN, Charset, Ink, TextCanvas, columns, cut, letter_ink, safe

NARROW = 22
"""Least width of a panel."""

GAP = 3
_TRACK = 25, 38
"""A panel at least twice the first wide has two tracks on a line; none is wider than the second."""

_NAME = 8
"""A name on a line with points is not cut to fewer columns."""


@dataclass(frozen=True, slots=True)
class Form:
    """How panels are written: with bars or only numbers (`brief`), beside the board or below it."""

    brief: bool
    beside: bool


FORMS = (Form(False, True), Form(False, False), Form(True, True), Form(True, False))
"""From the fullest to the shortest; the last one always has room."""


def room_beside(sheet: TextCanvas, width: int) -> bool:
    """Whether panels can stand beside what is on the sheet."""
    return width - sheet.bounds().width - GAP >= NARROW


def write(scene: Scene, sheet: TextCanvas, signs: Charset, form: Form, *, colour: bool, width: int) -> None:
    """Write all panels beside or below what is on the sheet."""
    if not scene.seats:
        return
    box = sheet.bounds()
    if form.beside:
        across, left, line = 1, box.right + GAP, box.top
        room = min(width - box.width - GAP, _TRACK[1])
    else:
        left, line = box.left, box.bottom + 1
        across = _across(scene, signs, width) if form.brief else min(2, len(scene.seats))
        room = (width - GAP * (across - 1)) // across
    apart = 0 if form.brief else 1
    for start in range(0, len(scene.seats), across):
        ends = []
        for index, seat in enumerate(scene.seats[start : start + across]):
            panel = _Panel(sheet, signs, left + index * (room + GAP), room, colour=colour)
            ends.append(
                panel.brief(seat, line, _longest(scene, signs)) if form.brief else panel.write(seat, line)
            )
        line = max(ends) + apart
    if scene.to_draw:
        stock = f"{scene.to_draw} to draw"
        corner = box.left + width - len(stock)
        if form.brief and not form.beside and sheet.end(box.bottom - 1) + GAP <= corner:
            sheet.put(corner, box.bottom - 1, stock, FAINT)  # saves a line
        else:
            sheet.put(left, line, stock, FAINT)


def _longest(scene: Scene, signs: Charset) -> int:
    return max(columns(safe(seat.name, unicode=signs.unicode)) for seat in scene.seats)


def _across(scene: Scene, signs: Charset, width: int) -> int:
    """How many panels of one line fit side by side."""
    need = max(_line(seat, signs, min(_longest(scene, signs), _NAME)) for seat in scene.seats)
    return max(1, min(len(scene.seats), (width + GAP) // (need + GAP)))


def _line(seat: Seat, signs: Charset, name: int) -> int:
    """The columns of a panel of one line."""
    return 2 + name + 1 + _points(seat, signs) + len(_behind(seat, brief=True))


def _points(seat: Seat, signs: Charset) -> int:
    return sum(columns("".join(_short(track, signs))) + 1 for track in seat.tracks)


def _short(track: Track, signs: Charset) -> tuple[str, str]:
    """A track in a few characters: what it is and its points."""
    colour = signs.glyph(track.colour) if len(track.colour) == 1 else f"{track.colour} "
    return colour, f"{track.points:>2}"


def _behind(seat: Seat, *, brief: bool = False) -> str:
    """What is said after the name, or in few characters after the points."""
    behind = [f"{seat.hidden}?" if brief else f"{seat.hidden} hidden"] if seat.hidden else []
    behind += [f"#{seat.place}"] if seat.place is not None else []
    return (" " if brief else "  ").join(behind)


class _Panel:
    """A place on the sheet for one seat."""

    def __init__(self, sheet: TextCanvas, signs: Charset, left: int, room: int, *, colour: bool) -> None:
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
        return self._hand(seat, line, apart=2)

    def brief(self, seat: Seat, line: int, longest: int) -> int:
        """Write the seat in few lines, points as numbers, and return the line after it."""
        room = self.room - _line(seat, self.signs, 0)
        if room >= min(longest, _NAME):
            name = min(longest, room)
            self._name(seat, line, name)
            column = self._numbers(seat, self.left + 2 + name + 1, line)
            behind = _behind(seat)
            if column + len(behind) > self.left + self.room:
                behind = _behind(seat, brief=True)
            self.sheet.put(column, line, behind, FAINT)
        else:
            self._head(seat, line)
            line += 1
            self._numbers(seat, self.left + 2, line)
        return self._hand(seat, line + 1, apart=1)

    def _head(self, seat: Seat, line: int) -> None:
        behind = _behind(seat)
        after = self._name(seat, line, self.room - 3 - len(behind))
        self.sheet.put(after + 2, line, behind, FAINT)

    def _name(self, seat: Seat, line: int, room: int) -> int:
        if seat.to_move:
            self.sheet.put(self.left, line, self.signs.turn, ACCENT)
        name = cut(safe(seat.name, unicode=self.signs.unicode), room)
        return self.sheet.put(self.left + 2, line, name, Ink(bold=True))

    def _numbers(self, seat: Seat, column: int, line: int) -> int:
        """`R10 G12 B18 O 6<P 9`: symbols and points, a sign behind the lowest."""
        lowest = seat.lowest()
        for track in seat.tracks:
            colour, number = _short(track, self.signs)
            low = track.points == lowest
            column = self.sheet.put(column, line, colour, letter_ink(track.colour, tile=False))
            column = self.sheet.put(column, line, number, Ink(bold=True) if low else PLAIN)
            column = self.sheet.put(column, line, self.signs.low if low else " ", ACCENT)
        return column

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

    def _hand(self, seat: Seat, line: int, *, apart: int) -> int:
        """Tiles as symbols with the letters a person types; `apart` columns lie between two of them."""
        if not seat.hand:
            return line
        start = column = self.left + 2
        for scene in seat.hand:
            letters = scene.title
            shown = len(letters) + 1 if self.signs.unicode else 0
            if column > start and column + shown + len(letters) > self.left + self.room:
                column, line = start, line + 1
            if self.signs.unicode:
                for letter in letters:
                    self.sheet.put(column, line, self.signs.glyph(letter), letter_ink(letter, tile=True))
                    column += 1
                column += 1
            for letter in letters:
                ink = PLAIN if self.signs.unicode else letter_ink(letter, tile=True)
                column = self.sheet.put(column, line, letter, ink)
            column += apart
        return line + 1
