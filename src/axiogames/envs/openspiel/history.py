"""A game whose chance is chosen, not drawn: every tile is told, and what each seat learned is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import IllegalMove, Reason
from ...games import find_variant
from ...games.runtime.loops import step
from ...games.runtime.state import DRAW, OFFER, OVER, PLACE, REMOVE, START
from ...games.variant import State, Variant, copied
from ...model.events import UNKNOWN, redact_event
from ...model.log import Log
from ...model.position import Position
from ...model.view import View
from ...moves import Move

# What happens, as numbers of an information state.
PLACED, EXCHANGED, KEPT, PASSED, DRAWN, LAID, REMOVED = 1, 2, 3, 4, 5, 6, 7
MOVES = {"place": PLACED, "exchange": EXCHANGED, "keep": KEPT, "pass": PASSED}
WAITS = {OVER: "over", PLACE: "place", OFFER: "offer", DRAW: "draw", START: "start", REMOVE: "remove"}
NOBODY = -1


class HistoryEntry(NamedTuple):
    """A move or an outcome of chance, with what there was to know of it."""

    what: int
    seat: int  # of those who learn all of it; `NOBODY`: none does
    number: int
    action: int  # the same as the engine numbers it
    tiles: tuple[int, ...]  # kinds that were placed, given up, drawn, laid or removed
    public: bool  # whether everybody sees which tiles
    phase: int  # what the state waited for before,
    due: int  # and how many draws it was waiting for
    told: str  # in words to those who learn all of it,
    heard: str  # and to the others


class History:
    """A game from its first draw on. Copies are cheap; a pickle holds the numbers and plays them again."""

    __slots__ = ("guesses", "happened", "phase", "seat", "state", "variant")

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.state: State = variant.new_state()
        self.happened: list[HistoryEntry] = []
        self.phase = int(self.state["phase"][0])
        self.seat = int(self.state["seat"][0])
        self.guesses: dict[int, Any] = {}  # what guessing needs to know, by seat; made when it is asked for

    def copy(self) -> History:
        """A game that goes its own way from here."""
        other = History.__new__(History)
        other.variant, other.state = self.variant, copied(self.state)
        other.happened = self.happened.copy()
        other.phase, other.seat, other.guesses = self.phase, self.seat, {}
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        variant = self.variant
        numbers = [happening.number for happening in self.happened]
        return replay_history, (variant.game.id, variant.players, variant.options, numbers)

    # ------------------------------------------------------------ what can happen

    def outcomes(self) -> list[tuple[int, float]]:
        """What chance can do, and how likely that is: of the tiles that are left, each as likely as any."""
        weighed = self.variant.chances(self.state)
        total = sum(weight for _, weight in weighed)
        return [(number, weight / total) for number, weight in weighed]

    def legal(self) -> list[int]:
        """The numbers of all legal moves, ascending."""
        numbers: list[int] = self.variant.legal_actions(self.state).tolist()
        return numbers

    def move_of(self, number: int) -> Move:
        """The move that a legal number stands for. Raises `IllegalMove`."""
        if not 0 <= number < self.variant.actions:
            raise self._unknown(number)
        return self.variant.decode(self.state, number)

    def number_of(self, move: Move | str) -> int:
        """The number of a legal move. Raises `IllegalMove`, or `ParseError` if the text is no move."""
        return Position(self.variant, self.state).action_of(move)

    def outcome_text(self, number: int) -> str:
        """What chance does by a number: the tile, and in an opening display where it lies."""
        if self.phase == START:
            laid = self.variant.starting(self.state, number)
            return f"{laid.letters} {laid.at[0]}"
        return self.variant.kinds[number] if number < len(self.variant.kinds) else f"outcome {number}"

    def _unknown(self, number: int) -> IllegalMove:
        most = self.variant.actions - 1
        says = f"no move has this number now: of 0 to {most}, legal_actions() lists those that do"
        return IllegalMove(f"action {number}", Reason.NOT_IN_THIS_GAME, says)

    # ------------------------------------------------------------ what happens

    def apply(self, number: int) -> None:
        """Make a move, or let chance do this. Raises `IllegalMove`; nothing has changed then."""
        number = int(number)
        if self.phase == OVER:
            raise IllegalMove(f"action {number}", Reason.GAME_OVER)
        happening = self._chance(number) if self.phase >= DRAW else self._move(number)
        constants = self.variant.constants
        if why := self.variant.kernels[step](constants, self.state, happening.action, self.phase < DRAW):
            if why == Reason.NOT_IN_THIS_GAME:
                raise self._unknown(number)
            raise IllegalMove(happening.told, Reason.of(why))
        self.happened.append(happening)
        self.phase, self.seat = int(self.state["phase"][0]), int(self.state["seat"][0])
        self.guesses = {}

    def _chance(self, number: int) -> HistoryEntry:
        if number not in dict(self.variant.chances(self.state)):
            raise IllegalMove(f"outcome {number}", Reason.NOT_IN_BAG)
        due = int(self.state["due"][0])
        if self.phase == START:
            laid = self.variant.starting(self.state, number)
            kind = self.variant.kind_of(laid.letters)
            assert kind is not None
            text = f"{laid.letters} {laid.at[0]}"
            return HistoryEntry(LAID, NOBODY, number, number, (kind,), True, self.phase, due, text, text)
        removed = self.phase == REMOVE
        seat, sign = (NOBODY, "-") if removed else (self.seat, f"{self.seat}+")
        told, heard = f"{sign}{self.variant.kinds[number]}", f"{sign}{UNKNOWN}"
        what = REMOVED if removed else DRAWN
        return HistoryEntry(what, seat, number, number, (number,), False, self.phase, due, told, heard)

    def _move(self, number: int) -> HistoryEntry:
        variant = self.variant
        move = self.move_of(number)
        names: tuple[str, ...] = ()
        what, public = MOVES[move.kind], True
        told = heard = f"{self.seat}:{move}"
        if what == PLACED:
            names = (move.tile,)
        elif what == EXCHANGED:
            names = move.tiles or variant.hand_of(self.state, self.seat)
            public = variant.exchange_is_public
            told = f"{self.seat}:exchange {' '.join(names)}"
            heard = told if public else f"{self.seat}:exchange {' '.join(UNKNOWN for _ in names)}"
        tiles = tuple(kind for kind in map(variant.kind_of, names) if kind is not None)
        return HistoryEntry(what, self.seat, number, number, tiles, public, self.phase, 0, told, heard)

    # ------------------------------------------------------------ what is known of it

    def history_for(self, seat: int | None, mine: bool = False) -> str:
        """What a seat (`None`: a spectator) has learned so far; with `mine`, of its own doings only."""
        return "; ".join(
            happening.told if happening.seat == seat and seat is not None else happening.heard
            for happening in self.happened
            if not mine or happening.seat == seat
        )

    def view(self, seat: int | None) -> View:
        """What a seat may know, or a spectator (`None`), as at a table."""
        variant, public = self.variant, self.variant.exchange_is_public
        events = Log(variant).upto([happening.action for happening in self.happened])
        seen = [redact_event(event, seat, public) for event in events]
        return View(variant, variant.redact(self.state, seat), seat, seen)

    def waiting(self) -> str:
        """What the game waits for, and from whom."""
        return f"{WAITS[self.phase]} {self.seat}" if self.phase in (PLACE, OFFER, DRAW) else WAITS[self.phase]


class Replay(History):
    """A game that has been played already, told once more from its start to whoever writes a history."""

    __slots__ = ("_next",)

    def __init__(self, play: History) -> None:
        self.happened = play.happened
        self._next = -1
        self.apply(0)

    def apply(self, number: int) -> None:
        """Go on to what happened next."""
        self._next += 1
        if self._next < len(self.happened):
            self.phase, self.seat = self.happened[self._next].phase, self.happened[self._next].seat


def replay_history(game: str, players: int, options: tuple[str, ...], numbers: list[int]) -> History:
    """The game that these numbers lead to."""
    play = History(find_variant(game, players, dict.fromkeys(options, True)))
    for number in numbers:
        play.apply(number)
    return play
