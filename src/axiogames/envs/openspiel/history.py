"""Histories of games with explicit chance: actions, outcomes, and what each seat learned of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import IllegalMove, Reason
from ...games import find_variant
from ...games.runtime.loops import step
from ...games.runtime.state import DRAW, OFFER, OVER, PLACE, REMOVE, START
from ...games.variant import State, Variant, copied
from ...model.events import UNKNOWN, redact_event
from ...model.position import Position
from ...model.table import events_of
from ...model.view import View
from ...moves import Action, Move, Seat, TileKind

# Kinds of entries, as information state tensors have them.
PLACED, EXCHANGED, KEPT, PASSED, DRAWN, LAID, REMOVED = 1, 2, 3, 4, 5, 6, 7
MOVES = {"place": PLACED, "exchange": EXCHANGED, "keep": KEPT, "pass": PASSED}
PHASE_TEXTS = {OVER: "over", PLACE: "place", OFFER: "offer", DRAW: "draw", START: "start", REMOVE: "remove"}
NOBODY = -1


class HistoryEntry(NamedTuple):
    """A move or an outcome of chance, and who can see it."""

    what: int  # its kind, `PLACED` to `REMOVED`
    seat: Seat  # the seat that sees all of it, or `NOBODY`
    number: int  # the action of OpenSpiel
    action: Action  # the action id of the rules
    tiles: tuple[TileKind, ...]  # the tiles placed, exchanged, drawn, displayed or removed
    public: bool  # whether everybody sees the tiles
    phase: int  # the phase before it
    due: int  # the number of draws due before it
    text: str  # for the seat that sees all of it
    public_text: str  # for the others


class History:
    """A game and its history from the first draw on.

    Copies are cheap. A pickle has the actions and replays them.
    """

    __slots__ = ("guesses", "happened", "phase", "seat", "state", "variant")

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.state: State = variant.new_state()
        self.happened: list[HistoryEntry] = []
        self.phase = int(self.state["phase"][0])
        self.seat = int(self.state["seat"][0])
        self.guesses: dict[int, Any] = {}  # caches of `resampling`, by seat

    def copy(self) -> History:
        """Return an independent copy."""
        other = History.__new__(History)
        other.variant, other.state = self.variant, copied(self.state)
        other.happened = self.happened.copy()
        other.phase, other.seat, other.guesses = self.phase, self.seat, {}
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        variant = self.variant
        numbers = [entry.number for entry in self.happened]
        return replay_history, (variant.game.id, variant.players, variant.options, numbers)

    # ------------------------------------------------------------ actions and outcomes

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance and their probabilities. All remaining tiles are equally likely."""
        weighed = self.variant.chances(self.state)
        total = sum(weight for _, weight in weighed)
        return [(number, weight / total) for number, weight in weighed]

    def legal(self) -> list[int]:
        """Return the legal actions, ascending."""
        numbers: list[int] = self.variant.legal_actions(self.state).tolist()
        return numbers

    def move_of(self, number: int) -> Move:
        """Return the move of a legal action. Raises `IllegalMove`."""
        if not 0 <= number < self.variant.actions:
            raise self._unknown(number)
        return self.variant.decode(self.state, number)

    def number_of(self, move: Move | str) -> int:
        """Return the action of a legal move.

        Raises:
            IllegalMove: the move is not legal here.
            ParseError: the text is not a move.
        """
        return Position(self.variant, self.state).action_of(move)

    def outcome_text(self, number: int) -> str:
        """Return an outcome as text: the tile, and its cell in an opening display."""
        if self.phase == START:
            laid = self.variant.start_tile(self.state, number)
            return f"{laid.letters} {laid.at[0]}"
        return self.variant.kinds[number] if number < len(self.variant.kinds) else f"outcome {number}"

    def _unknown(self, number: int) -> IllegalMove:
        most = self.variant.actions - 1
        says = f"not a legal action: legal_actions() lists those of 0 to {most} that are"
        return IllegalMove(f"action {number}", Reason.NOT_IN_THIS_GAME, says)

    # ------------------------------------------------------------ playing

    def apply(self, number: int) -> None:
        """Apply an action or an outcome of chance.

        Raises:
            IllegalMove: it is not legal. Nothing has changed.
        """
        number = int(number)
        if self.phase == OVER:
            raise IllegalMove(f"action {number}", Reason.GAME_OVER)
        entry = self._chance(number) if self.phase >= DRAW else self._move(number)
        constants = self.variant.constants
        if why := self.variant.kernels[step](constants, self.state, entry.action, self.phase < DRAW):
            if why == Reason.NOT_IN_THIS_GAME:
                raise self._unknown(number)
            raise IllegalMove(entry.text, Reason.of(why))
        self.happened.append(entry)
        self.phase, self.seat = int(self.state["phase"][0]), int(self.state["seat"][0])
        self.guesses = {}

    def _chance(self, number: int) -> HistoryEntry:
        if number not in dict(self.variant.chances(self.state)):
            raise IllegalMove(f"outcome {number}", Reason.NOT_IN_BAG)
        due = int(self.state["due"][0])
        if self.phase == START:
            laid = self.variant.start_tile(self.state, number)
            kind = self.variant.kind_of(laid.letters)
            assert kind is not None
            text = f"{laid.letters} {laid.at[0]}"
            return HistoryEntry(LAID, NOBODY, number, number, (kind,), True, self.phase, due, text, text)
        removed = self.phase == REMOVE
        seat, sign = (NOBODY, "-") if removed else (self.seat, f"{self.seat}+")
        text, public_text = f"{sign}{self.variant.kinds[number]}", f"{sign}{UNKNOWN}"
        what = REMOVED if removed else DRAWN
        return HistoryEntry(what, seat, number, number, (number,), False, self.phase, due, text, public_text)

    def _move(self, number: int) -> HistoryEntry:
        variant = self.variant
        move = self.move_of(number)
        names: tuple[str, ...] = ()
        what, public = MOVES[move.kind], True
        text = public_text = f"{self.seat}:{move}"
        if what == PLACED:
            names = (move.tile,)
        elif what == EXCHANGED:
            names = move.tiles or variant.hand_of(self.state, self.seat)
            public = variant.exchange_is_public
            text = f"{self.seat}:exchange {' '.join(names)}"
            public_text = text if public else f"{self.seat}:exchange {' '.join(UNKNOWN for _ in names)}"
        tiles = tuple(kind for kind in map(variant.kind_of, names) if kind is not None)
        return HistoryEntry(what, self.seat, number, number, tiles, public, self.phase, 0, text, public_text)

    # ------------------------------------------------------------ information of a seat

    def history_for(self, seat: int | None, mine: bool = False) -> str:
        """Return the history as a seat learned of it, or a spectator (`None`).

        With `mine`, only the entries of the seat itself are included.
        """
        return "; ".join(
            entry.text if entry.seat == seat and seat is not None else entry.public_text
            for entry in self.happened
            if not mine or entry.seat == seat
        )

    def view(self, seat: int | None) -> View:
        """Return the view of a seat, or of a spectator (`None`)."""
        variant, public = self.variant, self.variant.exchange_is_public
        events = events_of(variant, (entry.action for entry in self.happened))
        seen = [redact_event(event, seat, public) for event in events]
        return View(variant, variant.redact(self.state, seat), seat, seen)

    def phase_text(self) -> str:
        """Return the phase and, where a seat has to act, the seat."""
        return (
            f"{PHASE_TEXTS[self.phase]} {self.seat}"
            if self.phase in (PLACE, OFFER, DRAW)
            else PHASE_TEXTS[self.phase]
        )


class Replay(History):
    """A finished history, stepped through from its start while OpenSpiel records its own history."""

    __slots__ = ("_next",)

    def __init__(self, play: History) -> None:
        self.happened = play.happened
        self._next = -1
        self.apply(0)

    def apply(self, number: int) -> None:
        """Go to the next entry."""
        self._next += 1
        if self._next < len(self.happened):
            self.phase, self.seat = self.happened[self._next].phase, self.happened[self._next].seat


def replay_history(game: str, players: int, options: tuple[str, ...], numbers: list[int]) -> History:
    """Return the history of these actions and outcomes."""
    play = History(find_variant(game, players, dict.fromkeys(options, True)))
    for number in numbers:
        play.apply(number)
    return play
