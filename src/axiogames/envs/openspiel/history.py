"""Histories of games with explicit chance: actions, outcomes of chance, and the seats that see them."""

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

# Kinds of entries, as in the column `event` of information state tensors.
PLACED, EXCHANGED, KEPT, PASSED, DRAWN, DISPLAYED, REMOVED = 1, 2, 3, 4, 5, 6, 7
MOVES = {"place": PLACED, "exchange": EXCHANGED, "keep": KEPT, "pass": PASSED}
PHASE_TEXTS = {OVER: "over", PLACE: "place", OFFER: "offer", DRAW: "draw", START: "start", REMOVE: "remove"}
NOBODY = -1


class HistoryEntry(NamedTuple):
    """A move or an outcome of chance, and the seats that see it."""

    event: int  # `PLACED` to `REMOVED`
    seat: Seat  # the seat that sees all of it, or `NOBODY`
    action: Action
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

    __slots__ = ("entries", "phase", "resamplers", "seat", "state", "variant")

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.state: State = variant.new_state()
        self.entries: list[HistoryEntry] = []
        self.phase = int(self.state["phase"][0])
        self.seat = int(self.state["seat"][0])
        self.resamplers: dict[int, Any] = {}  # by seat, see `resampling`

    def copy(self) -> History:
        """Return an independent copy."""
        other = History.__new__(History)
        other.variant, other.state = self.variant, copied(self.state)
        other.entries = self.entries.copy()
        other.phase, other.seat, other.resamplers = self.phase, self.seat, {}
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        variant = self.variant
        actions = [entry.action for entry in self.entries]
        return replay_history, (variant.game.id, variant.players, variant.options, actions)

    # ------------------------------------------------------------ actions and outcomes

    def outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance and their probabilities. All remaining tiles are equally likely."""
        outcomes = self.variant.chances(self.state)
        total = sum(weight for _, weight in outcomes)
        return [(outcome, weight / total) for outcome, weight in outcomes]

    def legal(self) -> list[int]:
        """Return the legal actions, ascending."""
        actions: list[int] = self.variant.legal_actions(self.state).tolist()
        return actions

    def move_of(self, action: int) -> Move:
        """Return the move of a legal action. Raises `IllegalMove`."""
        if not 0 <= action < self.variant.actions:
            raise self._unknown(action)
        return self.variant.decode(self.state, action)

    def action_of(self, move: Move | str) -> int:
        """Return the action of a legal move.

        Raises:
            IllegalMove: the move is not legal here.
            ParseError: the text is not a move.
        """
        return Position(self.variant, self.state).action_of(move)

    def outcome_text(self, outcome: int) -> str:
        """Return an outcome as text: the tile, and its cell in an opening display."""
        if self.phase == START:
            placed = self.variant.start_tile(self.state, outcome)
            return f"{placed.letters} {placed.at[0]}"
        return self.variant.kinds[outcome] if outcome < len(self.variant.kinds) else f"outcome {outcome}"

    def _unknown(self, action: int) -> IllegalMove:
        limit = self.variant.actions - 1
        detail = f"not a legal action: legal_actions() lists those of 0 to {limit} that are"
        return IllegalMove(f"action {action}", Reason.NOT_IN_THIS_GAME, detail)

    # ------------------------------------------------------------ playing

    def apply(self, action: int) -> None:
        """Apply an action or an outcome of chance.

        Raises:
            IllegalMove: the action or outcome is not legal. Nothing has changed.
        """
        action = int(action)
        if self.phase == OVER:
            raise IllegalMove(f"action {action}", Reason.GAME_OVER)
        entry = self._chance(action) if self.phase >= DRAW else self._move(action)
        constants = self.variant.constants
        if reason := self.variant.kernels[step](constants, self.state, entry.action, self.phase < DRAW):
            if reason == Reason.NOT_IN_THIS_GAME:
                raise self._unknown(action)
            raise IllegalMove(entry.text, Reason.of(reason))
        self.entries.append(entry)
        self.phase, self.seat = int(self.state["phase"][0]), int(self.state["seat"][0])
        self.resamplers = {}

    def _chance(self, action: int) -> HistoryEntry:
        if action not in dict(self.variant.chances(self.state)):
            raise IllegalMove(f"outcome {action}", Reason.NOT_IN_BAG)
        due = int(self.state["due"][0])
        if self.phase == START:
            placed = self.variant.start_tile(self.state, action)
            kind = self.variant.kind_of(placed.letters)
            assert kind is not None
            text = f"{placed.letters} {placed.at[0]}"
            return HistoryEntry(DISPLAYED, NOBODY, action, (kind,), True, self.phase, due, text, text)
        removed = self.phase == REMOVE
        seat, sign = (NOBODY, "-") if removed else (self.seat, f"{self.seat}+")
        text, public_text = f"{sign}{self.variant.kinds[action]}", f"{sign}{UNKNOWN}"
        event = REMOVED if removed else DRAWN
        return HistoryEntry(event, seat, action, (action,), False, self.phase, due, text, public_text)

    def _move(self, action: int) -> HistoryEntry:
        variant = self.variant
        move = self.move_of(action)
        names: tuple[str, ...] = ()
        event, public = MOVES[move.kind], True
        text = public_text = f"{self.seat}:{move}"
        if event == PLACED:
            names = (move.tile,)
        elif event == EXCHANGED:
            names = move.tiles or variant.hand_of(self.state, self.seat)
            public = variant.exchange_is_public
            text = f"{self.seat}:exchange {' '.join(names)}"
            public_text = text if public else f"{self.seat}:exchange {' '.join(UNKNOWN for _ in names)}"
        tiles = tuple(kind for kind in map(variant.kind_of, names) if kind is not None)
        return HistoryEntry(event, self.seat, action, tiles, public, self.phase, 0, text, public_text)

    # ------------------------------------------------------------ information of a seat

    def history_for(self, seat: int | None, own: bool = False) -> str:
        """Return the history as a seat, or a spectator (`None`), knows it.

        With `own`, only the entries of the seat are included.
        """
        return "; ".join(
            entry.text if entry.seat == seat and seat is not None else entry.public_text
            for entry in self.entries
            if not own or entry.seat == seat
        )

    def view(self, seat: int | None) -> View:
        """Return the view of a seat, or of a spectator (`None`)."""
        variant, public = self.variant, self.variant.exchange_is_public
        events = events_of(variant, (entry.action for entry in self.entries))
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
        self.entries = play.entries
        self._next = -1
        self.apply(0)

    def apply(self, action: int) -> None:
        """Go to the next entry."""
        self._next += 1
        if self._next < len(self.entries):
            self.phase, self.seat = self.entries[self._next].phase, self.entries[self._next].seat


def replay_history(game: str, players: int, options: tuple[str, ...], actions: list[int]) -> History:
    """Return the history of these actions and outcomes."""
    play = History(find_variant(game, players, dict.fromkeys(options, True)))
    for action in actions:
        play.apply(action)
    return play
