"""A game in the terminal between people and programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ...analysis.review.hints import hint as best_moves
from ...analysis.review.remarks import Wording
from ...errors import AxioError
from ...model.events import Draw, Place
from ...model.position import Preview
from ...model.table import Table
from ...model.view import View
from ...moves import Move
from ...players import Budget, player
from ...rng import Generator
from . import saved_game
from .input import Order, read_move, read_order
from .options import YOU, shown_names
from .result_text import Made, is_made, last_made, set_on, told
from .saved_game import Saved
from .screen import Screen
from .text import count, in_columns, one_line, packed, points

SHOWN = 12  # moves that are listed at once
THOUGHT, PATIENCE = 1000, 1.0  # rollouts for a hint, as long as they take no longer than so many seconds


def numbered(moves: Sequence[tuple[Move, str]]) -> list[str]:
    """Moves and what is to be said of them, with numbers to choose by."""
    rows = [(str(number), str(move), text) for number, (move, text) in enumerate(moves, 1)]
    return in_columns(rows, right=(0,), indent=2)


def best_placements(view: View, wanted: Sequence[str]) -> tuple[list[tuple[Move, str]], int]:
    """The placements with most points (of equal ones, those that lift the lowest), and how many there are.

    `wanted` are names of cells and letters of tiles; only placements with all of them count.
    """
    moves = view.legal_moves()
    gains = view.gains(moves)
    own = np.array(list(view.scores[view.turn or 0].values()))
    fitting = [
        n
        for n, move in enumerate(moves)
        if move.kind == "place" and all(_has(view, move, word) for word in wanted)
    ]
    fitting.sort(key=lambda n: (int(gains[n].sum()), sorted(own + gains[n])), reverse=True)
    # A colour named for nothing is no choice of its own.
    fitting = list({(moves[n].tile, moves[n].at, *gains[n].tolist()): n for n in reversed(fitting)}.values())[
        ::-1
    ]
    tracks = view.variant.tracks
    best = [(moves[n], points(dict(zip(tracks, gains[n].tolist(), strict=True)))) for n in fitting[:SHOWN]]
    return best, len(fitting)


def _has(view: View, move: Move, word: str) -> bool:
    if word.lower() in move.at:
        return True
    kind = view.variant.kind_of(word.upper())
    return kind is not None and kind == view.variant.kind_of(move.tile)


def list_moves(view: View, wanted: Sequence[str]) -> tuple[list[Move], list[str]]:
    """The moves to choose from, and the lines that list them."""
    best, total = best_placements(view, wanted)
    lines = numbered(best)
    if not best:
        lines = [f"  There is no placement{' with ' + ' '.join(wanted) if wanted else ''}."]
    elif total > len(best):
        lines.append(f"  ... the best {len(best)} of {total}: moves CELL or moves TILE tells more.")
    if others := sorted({move.kind for move in view.legal_moves() if move.kind != "place"}):
        lines.append(f"  You may also: {', '.join(others)}.")
    return [move for move, _ in best], lines


def hint(view: View, names: Sequence[str], rng: Generator) -> tuple[list[Move], list[str]]:
    """The best moves after some thought, with what they are worth and what speaks for them."""
    found = best_moves(view, Budget(PATIENCE, THOUGHT), rng.bits() >> 1)
    wording = Wording("en", found.terms, tuple(names))
    if not found.suggestions:
        only = view.legal_moves()[0]
        return [only], [f"  {wording.say('hint_only')}", *numbered([(only, "")])]
    listed = [
        (
            Move.parse(one.candidate.move),
            f"{wording.value(one.candidate.value)} ± {wording.change(one.candidate.error)}",
        )
        for one in found.suggestions
    ]
    reasons = [f"  {wording.remark(remark)}" for remark in found.suggestions[0].remarks]
    return [move for move, _ in listed], [*numbered(listed), *reasons]


def scored(move: Move, preview: Preview) -> str:
    """What a move would do."""
    if move.kind != "place":
        return f"{move} scores nothing."
    end = "; the game would be over" if preview.ends_game else ""
    return f"{move} would score {points(preview.gain)}{set_on(preview.pyramids)}{end}."


def help_lines(view: View) -> list[str]:
    """What can be typed now."""
    moves = view.legal_moves()
    placement = next((move for move in moves if move.kind == "place"), None)
    naming = next((move for move in moves if move.named), None)
    kinds = {move.kind for move in moves}
    rows: list[tuple[str, str]] = []
    if placement is not None:
        rows.append((str(placement), _placing(placement)))
    if naming is not None:
        rows.append((str(naming), "the same, naming a colour for the empty corner, which then scores"))
    if "exchange" in kinds:
        some = next(move for move in moves if move.kind == "exchange")
        text = "draw new tiles for those named" if some.tiles else "show your whole hand and draw a new one"
        rows.append((str(some), text))
    if "keep" in kinds:
        rows.append(("keep", "keep your hand and refill it"))
    if "pass" in kinds:
        rows.append(("pass", "nothing can be placed"))
    rows += [
        ("moves", "the placements with most points"),
        *_narrowed(placement),
        ("3", "play number 3 of the moves listed last"),
        ("hint", "the best moves after some thought"),
        ("score MOVE", "what a move would score, without playing it"),
        ("board", "draw the board again"),
        ("undo", "take a placement back, until tiles are drawn or others move"),
        ("position", "the position in one line, for other programs"),
        ("quit", "stop; the game is saved after every move"),
    ]
    return in_columns(rows, indent=2)


def _placing(move: Move) -> str:
    if "," in move.at[0]:
        return "letters clockwise from the top left; steps right,up of the start"
    return f"letters in the order of the cells; {move.tile.lower()} {' '.join(move.at)} will do, too"


def _narrowed(placement: Move | None) -> list[tuple[str, str]]:
    if placement is None:
        return []
    return [(f"moves {placement.at[0]}", f"those on one cell; moves {placement.tile}: those of one tile")]


NUMBER = re.compile(r"[0-9]{1,9}")  # of a move that is listed


class Quit(Exception):
    """Somebody wants to stop; the game is saved."""


class Session:
    """A game from its opening, or from where it was saved, until it is over or somebody quits."""

    def __init__(self, game: Saved, screen: Screen, ask: Callable[[str], str] = input) -> None:
        self.game = game
        self.table: Table = game.table()
        self.names = shown_names(game.players)
        self._screen = screen
        self._ask_for = ask
        self._people = [seat for seat, name in enumerate(game.players) if name == YOU]
        self._looking: int | None = None  # whose hand is on the screen
        self._reasons: dict[int, str] = {}  # why programs moved, by the number of the event
        self._warned = False  # that the window is too small
        self._listed: list[Move] = []  # what a number means

    def run(self) -> None:
        """Play to the end. Raises `Quit`."""
        self._keep(confirmed=self.game.confirmed)
        while True:
            if not self.game.confirmed:
                self._confirm()
            elif (seat := self.table.turn) is None:
                return
            elif seat in self._people:
                self._move_of_person(seat)
            else:
                self._move_of_program(seat)

    # ------------------------------------------------------------ moves

    def _move_of_program(self, seat: int) -> None:
        # A generator for each move by its number: what is played does not depend on stopping in between.
        rng = Generator(f"{self.game.seed}/player {seat}/{self.table.plies}")
        choice = player(self.game.players[seat]).choose(self.table.view(seat), Budget(), rng)
        self._reasons[len(self.table.events)] = choice.candidates[0].why
        self.table.play(choice.move)
        self._keep()

    def _move_of_person(self, seat: int) -> None:
        self._curtain(seat)
        self._show_turn(self.table.view(seat))
        before = self.table.plies
        while self.table.plies == before:
            self._obey(seat, self._ask())

    def _obey(self, seat: int, text: str) -> None:
        """Do what a line asks for; what cannot be done is said in a line."""
        view = self.table.view(seat)
        try:
            if not text:
                self._screen.say("Type a move, moves to see some, or ? for help.")
            elif NUMBER.fullmatch(text):
                self._play(seat, self._number(int(text)))
            elif order := read_order(text):
                self._answer(seat, view, order)
            else:
                self._play(seat, read_move(text))
        except AxioError as error:
            self._screen.say(one_line(str(error)))

    def _number(self, number: int) -> Move:
        if not 1 <= number <= len(self._listed):
            listed = f"1 to {len(self._listed)}" if self._listed else "type moves to see some"
            raise AxioError(f"there is no move number {number}: {listed}")
        return self._listed[number - 1]

    def _play(self, seat: int, move: Move) -> None:
        self.table.play(move, seat, deal=False)
        self._listed = []
        if self.table.turn == seat:
            self._keep()  # one more placement, or an offer to answer: undo can wait
        elif move.kind == "place":
            self._keep(confirmed=False)
        else:
            self._go_on()

    def _confirm(self) -> None:
        """The last placement lies on the board: draw for it, or take it back."""
        made = last_made(self.table.events)
        assert made is not None, "something was placed"
        self._curtain(made.p)
        self._show(self.table.view(made.p), f"You {told(made)}.")
        self._screen.say(f"Enter: {self._what_follows()}.  u: take it back.")
        while text := self._ask():
            order = read_order(text)
            if order and order.name == "undo":
                self._undo(made.p)
                return
            if order and order.name == "quit":
                raise Quit
            self._screen.say("Press Enter to go on, or type u to take it back.")
        self._go_on()

    def _go_on(self) -> None:
        self.table.deal()
        self._keep()

    def _undo(self, seat: int) -> None:
        if not self._can_undo(seat):
            raise AxioError("nothing can be taken back: tiles have been drawn or others have moved since")
        self.table.undo()
        self._keep()

    def _can_undo(self, seat: int) -> bool:
        """Whether nothing has happened since this seat placed a tile: nobody has learned anything."""
        last = self.table.events[-1]
        return isinstance(last, Place) and last.p == seat

    # ------------------------------------------------------------ what is seen

    def _answer(self, seat: int, view: View, order: Order) -> None:
        say = self._screen.say
        match order.name:
            case "help":
                say("\n".join(help_lines(view)))
            case "moves":
                self._listed, lines = list_moves(view, order.rest.split())
                say("\n".join(lines))
            case "hint":
                rng = Generator(f"{self.game.seed}/hint/{self.table.plies}")
                self._listed, lines = hint(view, self.names, rng)
                say("\n".join(lines))
            case "score":
                if not order.rest:
                    raise AxioError(f"score what? For instance: score {view.legal_moves()[0]}")
                move = read_move(order.rest)
                say(scored(move, view.preview(move)))
            case "board":
                self._show_turn(view)
            case "position":
                say(view.position)
            case "undo":
                self._undo(seat)
            case "quit":
                raise Quit

    def _curtain(self, seat: int) -> None:
        """Where several people share a screen, nobody sees a hand before its owner is alone with it."""
        if len(self._people) > 1 and self._looking != seat:
            self._screen.clear(for_good=True)
            self._ask(f"{self.names[seat]}: press Enter when nobody else is looking. ")
        self._looking = seat

    def _show_turn(self, view: View) -> None:
        news = packed(self._news(view), self._screen.width)
        self._show(view, *news, *self._screen.turned(view), self._turn_line(view))

    def _show(self, view: View, *lines: str) -> None:
        self._screen.clear(for_good=len(self._people) > 1)
        board = self._screen.drawn(view, self.names).splitlines()
        for line in (*board, *lines):
            self._screen.say(line)
        needed = len(board) + len(lines) + 1
        if self._screen.height is not None and needed > self._screen.height and not self._warned:
            self._warned = True
            self._screen.say(
                f"(This takes {needed} lines, the window has {self._screen.height}: enlarge it.)"
            )

    def _news(self, view: View) -> list[str]:
        """What others have done, and what this seat has drawn, since its last move."""
        own = [n for n, event in enumerate(view.events) if is_made(event) and event.p == view.seat]
        since = own[-1] if own else 0
        news = []
        for number, event in enumerate(view.events[since:], since):
            if is_made(event) and event.p != view.seat:
                why = self._reasons.get(number, "")
                news.append(f"{self.names[event.p]} {told(event)}.{_beyond_points(event, why)}")
            elif is_made(event) and self._can_undo(event.p):
                news.append(f"You {told(event)}.")
            elif isinstance(event, Draw) and event.p == view.seat and own:
                news.append(f"You drew {' '.join(event.tiles)}.")
        return news

    def _turn_line(self, view: View) -> str:
        moves = view.legal_moves()
        kinds = {move.kind for move in moves}
        who = f"{self.names[view.seat or 0]}, your turn" if len(self._people) > 1 else "Your turn"
        if "keep" in kinds:
            return "No tile in your hand shows your lowest colour: exchange the hand, or keep it? (u: undo)"
        if "place" not in kinds:
            return f"{who}: nothing can be placed, so you can only {' or '.join(sorted(kinds))}."
        last = last_made(view.events)
        again = " again" if last is not None and last.p == view.seat and view.players > 1 else ""
        example = next(move for move in moves if move.kind == "place")
        return f"{who}{again}. Type a move such as {example}, moves to see some, ? for help."

    def _what_follows(self) -> str:
        if self.table.over:
            return "end the game"
        due = self.table.draw_due
        return f"draw {count(due, 'tile')} and go on" if due else "go on"

    # ------------------------------------------------------------ asking and saving

    def _ask(self, prompt: str = "> ") -> str:
        try:
            return self._ask_for(prompt).strip()
        except EOFError:
            self._screen.say()
            raise Quit from None

    def _keep(self, *, confirmed: bool = True) -> None:
        moves = tuple(str(move) for move in self.table.moves)
        self.game = msgspec.structs.replace(self.game, moves=moves, confirmed=confirmed)
        saved_game.store(self.game)


def _beyond_points(event: Made, why: str) -> str:
    """A program's reason, unless it only repeats what was scored."""
    repeated = isinstance(event, Place) and points(event.gain) in why
    return f" Its reason: {why}." if why and not repeated else ""
