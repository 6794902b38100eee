"""The panels of the seats as text: name, points and hand."""

from __future__ import annotations

from dataclasses import dataclass

from ..scene import Scene, Seat, Track
from .canvas import (
    ACCENT,
    FAINT,
    PLAIN,
    Charset,
    Ink,
    TextCanvas,
    display_width,
    letter_ink,
    sanitize,
    truncate,
)

MIN_PANEL_WIDTH = 22
"""Minimum width of a panel."""

GAP = 3
_TRACK_WIDTHS = 25, 38
"""Minimum width of a track where a line has two of them, and maximum width."""

_MIN_NAME_WIDTH = 8
"""Minimum number of columns of a name on a line with points."""


@dataclass(frozen=True, slots=True)
class PanelStyle:
    """The style of panels: with bars or only numbers (`brief`), beside the board or below it."""

    brief: bool
    beside: bool


PANEL_STYLES = (
    PanelStyle(False, True),
    PanelStyle(False, False),
    PanelStyle(True, True),
    PanelStyle(True, False),
)
"""Styles from the most detailed to the shortest. The last one always fits."""


def fits_beside(canvas: TextCanvas, width: int) -> bool:
    """Return whether panels fit beside the board on the canvas."""
    return width - canvas.bounds().width - GAP >= MIN_PANEL_WIDTH


def render_panels(
    scene: Scene, canvas: TextCanvas, charset: Charset, style: PanelStyle, *, colour: bool, width: int
) -> None:
    """Render all panels beside or below the board on the canvas."""
    if not scene.seats:
        return
    box = canvas.bounds()
    if style.beside:
        across, left, line = 1, box.right + GAP, box.top
        room = min(width - box.width - GAP, _TRACK_WIDTHS[1])
    else:
        left, line = box.left, box.bottom + 1
        across = _panels_per_line(scene, charset, width) if style.brief else min(2, len(scene.seats))
        room = (width - GAP * (across - 1)) // across
    apart = 0 if style.brief else 1
    for start in range(0, len(scene.seats), across):
        ends = []
        for index, seat in enumerate(scene.seats[start : start + across]):
            panel = _PanelRenderer(canvas, charset, left + index * (room + GAP), room, colour=colour)
            ends.append(
                panel.render_brief(seat, line, _longest_name(scene, charset))
                if style.brief
                else panel.render(seat, line)
            )
        line = max(ends) + apart
    if scene.to_draw:
        stock = f"{scene.to_draw} to draw"
        corner = box.left + width - len(stock)
        if style.brief and not style.beside and canvas.end(box.bottom - 1) + GAP <= corner:
            canvas.put(corner, box.bottom - 1, stock, FAINT)  # saves a line
        else:
            canvas.put(left, line, stock, FAINT)


def _longest_name(scene: Scene, charset: Charset) -> int:
    return max(display_width(sanitize(seat.name, unicode=charset.unicode)) for seat in scene.seats)


def _panels_per_line(scene: Scene, charset: Charset, width: int) -> int:
    """Return the number of one-line panels that fit side by side."""
    need = max(
        _brief_width(seat, charset, min(_longest_name(scene, charset), _MIN_NAME_WIDTH))
        for seat in scene.seats
    )
    return max(1, min(len(scene.seats), (width + GAP) // (need + GAP)))


def _brief_width(seat: Seat, charset: Charset, name: int) -> int:
    """Return the number of columns of a one-line panel."""
    return 2 + name + 1 + _points_width(seat, charset) + len(_name_suffix(seat, brief=True))


def _points_width(seat: Seat, charset: Charset) -> int:
    return sum(display_width("".join(_brief_track(track, charset))) + 1 for track in seat.tracks)


def _brief_track(track: Track, charset: Charset) -> tuple[str, str]:
    """Return a track in short form: its glyph and its points."""
    colour = charset.glyph(track.colour) if len(track.colour) == 1 else f"{track.colour} "
    return colour, f"{track.points:>2}"


def _name_suffix(seat: Seat, *, brief: bool = False) -> str:
    """Return the text after the name: hidden tiles and rank."""
    behind = [f"{seat.hidden}?" if brief else f"{seat.hidden} hidden"] if seat.hidden else []
    behind += [f"#{seat.rank}"] if seat.rank is not None else []
    return (" " if brief else "  ").join(behind)


class _PanelRenderer:
    """Renders the panel of one seat at a position on the canvas."""

    def __init__(self, canvas: TextCanvas, charset: Charset, left: int, room: int, *, colour: bool) -> None:
        self.canvas = canvas
        self.charset = charset
        self.left = left
        self.room = room
        self.colour = colour

    def render(self, seat: Seat, line: int) -> int:
        """Render the panel from `line` on and return the line after it."""
        self._head(seat, line)
        line += 1
        across = 2 if self.room >= 2 * _TRACK_WIDTHS[0] - GAP and len(seat.tracks) > 1 else 1
        wide = min((self.room - 2 - GAP * (across - 1)) // across, _TRACK_WIDTHS[1])
        lowest = seat.lowest()
        for index, track in enumerate(seat.tracks):
            left = self.left + 2 + index % across * (wide + GAP)
            self._track(track, left, line + index // across, wide, low=track.points == lowest)
        line += -(-len(seat.tracks) // across)
        return self._hand(seat, line, apart=2)

    def render_brief(self, seat: Seat, line: int, longest: int) -> int:
        """Render the panel in short form, with points as numbers, and return the line after it."""
        room = self.room - _brief_width(seat, self.charset, 0)
        if room >= min(longest, _MIN_NAME_WIDTH):
            name = min(longest, room)
            self._name(seat, line, name)
            column = self._numbers(seat, self.left + 2 + name + 1, line)
            behind = _name_suffix(seat)
            if column + len(behind) > self.left + self.room:
                behind = _name_suffix(seat, brief=True)
            self.canvas.put(column, line, behind, FAINT)
        else:
            self._head(seat, line)
            line += 1
            self._numbers(seat, self.left + 2, line)
        return self._hand(seat, line + 1, apart=1)

    def _head(self, seat: Seat, line: int) -> None:
        behind = _name_suffix(seat)
        after = self._name(seat, line, self.room - 3 - len(behind))
        self.canvas.put(after + 2, line, behind, FAINT)

    def _name(self, seat: Seat, line: int, room: int) -> int:
        if seat.to_move:
            self.canvas.put(self.left, line, self.charset.turn, ACCENT)
        name = truncate(sanitize(seat.name, unicode=self.charset.unicode), room)
        return self.canvas.put(self.left + 2, line, name, Ink(bold=True))

    def _numbers(self, seat: Seat, column: int, line: int) -> int:
        """Render symbols and points with a marker after the lowest: `R10 G12 B18 O 6<P 9`."""
        lowest = seat.lowest()
        for track in seat.tracks:
            colour, number = _brief_track(track, self.charset)
            low = track.points == lowest
            column = self.canvas.put(column, line, colour, letter_ink(track.colour, tile=False))
            column = self.canvas.put(column, line, number, Ink(bold=True) if low else PLAIN)
            column = self.canvas.put(column, line, self.charset.low if low else " ", ACCENT)
        return column

    def _track(self, track: Track, left: int, line: int, wide: int, *, low: bool) -> None:
        """Render symbol, letter, points as bar and number, and a marker if lowest: `* R ====.... 12 <`."""
        known = len(track.colour) == 1
        head = (
            f"{self.charset.glyph(track.colour)} {track.colour} "
            if known and self.charset.unicode
            else f"{track.colour} "
        )
        ink = letter_ink(track.colour, tile=False)
        column = self.canvas.put(left, line, head, ink)
        number = f"{track.points:>3}"
        if track.cap is not None:
            bar = max(1, min(wide - display_width(head) - len(number) - 2, track.cap))
            full = min(bar, -(-track.points * bar // max(track.cap, 1)))
            column = self.canvas.put(column, line, self.charset.full * full, ink)
            column = self.canvas.put(column, line, self.charset.hollow * (bar - full), FAINT)
        column = self.canvas.put(column, line, number, Ink(bold=True) if low else PLAIN)
        if low:
            self.canvas.put(column + 1, line, self.charset.low, ACCENT)

    def _hand(self, seat: Seat, line: int, *, apart: int) -> int:
        """Render tiles as symbols with the letters to type, `apart` columns apart."""
        if not seat.hand:
            return line
        start = column = self.left + 2
        for scene in seat.hand:
            letters = scene.title
            shown = len(letters) + 1 if self.charset.unicode else 0
            if column > start and column + shown + len(letters) > self.left + self.room:
                column, line = start, line + 1
            if self.charset.unicode:
                for letter in letters:
                    self.canvas.put(column, line, self.charset.glyph(letter), letter_ink(letter, tile=True))
                    column += 1
                column += 1
            for letter in letters:
                ink = PLAIN if self.charset.unicode else letter_ink(letter, tile=True)
                column = self.canvas.put(column, line, letter, ink)
            column += apart
        return line + 1
