"""A game between people and bots in the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ...analysis.review.hints import best_moves
from ...analysis.review.remarks import Wording
from ...errors import AxioError
from ...model.events import Draw, Place
from ...model.position import Preview
from ...model.table import Table
from ...model.view import View
from ...moves import Move
from ...players import Budget, player
from ...players.match import play_choice
from ...rng import Generator
from . import saved_game
from .descriptions import MoveEvent, describe_move, describe_pyramids, is_move, last_move
from .input import GameCommand, parse_command, parse_move
from .options import YOU, unique_names
from .saved_game import SavedGame
from .screen import Screen
from .text import count, format_points, format_table, one_line, wrap_sentences

MAX_LISTED_MOVES = 12
HINT_ROLLOUTS = 1000
HINT_SECONDS = 1.0  # limit of the time for the rollouts
_NUMBER = re.compile(r"[0-9]{1,9}")  # of a listed move


class Quit(Exception):
    """A person quits. The game is saved."""


class Session:
    """A new or resumed game, until it is over or a person quits.

    Args:
        game: the game to start or to resume.
        screen: the output device.
        read_line: prints a prompt and returns a line. Raises `EOFError` at the end of the input.
    """

    def __init__(self, game: SavedGame, screen: Screen, read_line: Callable[[str], str] = input) -> None:
        self.game = game
        self.table: Table = game.table()
        self.names = unique_names(game.players)
        self._screen = screen
        self._read_line = read_line
        self._people = [seat for seat, name in enumerate(game.players) if name == YOU]
        self._viewer: int | None = None  # seat whose hand is on the screen
        self._reasons: dict[int, str] = {}  # reasons of bots, by the index of the event
        self._size_warned = False  # whether the user was warned that the window is too small
        self._listed: list[Move] = []  # moves listed last, which can be played by number

    def run(self) -> None:
        """Play the game. Raise `Quit` if a person quits."""
        self._save(confirmed=self.game.confirmed)
        while True:
            if not self.game.confirmed:
                self._confirm()
            elif (seat := self.table.turn) is None:
                return
            elif seat in self._people:
                self._play_human_move(seat)
            else:
                self._play_bot_move(seat)

    # ------------------------------------------------------------ moves

    def _play_bot_move(self, seat: int) -> None:
        # One generator per move, so that quitting and resuming does not change the game.
        rng = Generator(f"{self.game.seed}/player {seat}/{self.table.plies}")
        choice = player(self.game.players[seat]).choose(self.table.view(seat), Budget(), rng)
        self._reasons[len(self.table.events)] = choice.candidates[0].why
        play_choice(self.table, choice)
        self._save()

    def _play_human_move(self, seat: int) -> None:
        self._hand_over_screen(seat)
        self._show_turn(self.table.view(seat))
        before = self.table.plies
        while self.table.plies == before:
            self._execute(seat, self._ask())

    def _execute(self, seat: int, text: str) -> None:
        """Execute a command or play a move. Errors are printed on one line."""
        view = self.table.view(seat)
        try:
            if not text:
                self._screen.print("Type a move, moves to see some, or ? for help.")
            elif _NUMBER.fullmatch(text):
                self._play(seat, self._listed_move(int(text)))
            elif command := parse_command(text):
                self._run_command(seat, view, command)
            else:
                self._play(seat, parse_move(text))
        except AxioError as error:
            self._screen.print(one_line(str(error)))

    def _listed_move(self, number: int) -> Move:
        if not 1 <= number <= len(self._listed):
            listed = f"1 to {len(self._listed)}" if self._listed else "type moves to see some"
            raise AxioError(f"there is no move number {number}: {listed}")
        return self._listed[number - 1]

    def _play(self, seat: int, move: Move) -> None:
        self.table.play(move, seat, deal=False)
        self._listed = []
        if self.table.turn == seat:
            self._save()  # an extra turn or an offer to exchange; undo is still possible
        elif move.kind == "place":
            self._save(confirmed=False)
        else:
            self._advance()

    def _confirm(self) -> None:
        """Ask whether to confirm the last placement, which draws tiles, or to undo it."""
        move = last_move(self.table.events)
        assert move is not None, "a tile was placed"
        self._hand_over_screen(move.p)
        self._show(self.table.view(move.p), f"You {describe_move(move)}.")
        self._screen.print(f"Enter: {self._next_step()}.  u: take it back.")
        while text := self._ask():
            command = parse_command(text)
            if command and command.name == "undo":
                self._undo(move.p)
                return
            if command and command.name == "quit":
                raise Quit
            self._screen.print("Press Enter to continue, or type u to take it back.")
        self._advance()

    def _advance(self) -> None:
        self.table.deal()
        self._save()

    def _undo(self, seat: int) -> None:
        if not self._can_undo(seat):
            raise AxioError("nothing can be taken back: tiles were drawn or others have moved")
        self.table.undo()
        self._save()

    def _can_undo(self, seat: int) -> bool:
        """Return whether the last event is a placement by this seat, so that undoing it reveals nothing."""
        last = self.table.events[-1]
        return isinstance(last, Place) and last.p == seat

    # ------------------------------------------------------------ output

    def _run_command(self, seat: int, view: View, command: GameCommand) -> None:
        show = self._screen.print
        match command.name:
            case "help":
                show("\n".join(help_lines(view)))
            case "moves":
                self._listed, lines = list_moves(view, command.argument.split())
                show("\n".join(lines))
            case "hint":
                rng = Generator(f"{self.game.seed}/hint/{self.table.plies}")
                self._listed, lines = list_hints(view, self.names, rng)
                show("\n".join(lines))
            case "score":
                if not command.argument:
                    raise AxioError(f"score needs a move, for example: score {view.legal_moves()[0]}")
                move = parse_move(command.argument)
                show(describe_preview(move, view.preview(move)))
            case "board":
                self._show_turn(view)
            case "position":
                show(view.position)
            case "undo":
                self._undo(seat)
            case "quit":
                raise Quit

    def _hand_over_screen(self, seat: int) -> None:
        """Clear a shared screen, and wait until only the person at `seat` looks at it."""
        if len(self._people) > 1 and self._viewer != seat:
            self._screen.clear(scrollback=True)
            self._ask(f"{self.names[seat]}: press Enter when nobody else is looking. ")
        self._viewer = seat

    def _show_turn(self, view: View) -> None:
        news = wrap_sentences(self._news(view), self._screen.width)
        self._show(view, *news, *self._screen.render_orientations(view), self._turn_line(view))

    def _show(self, view: View, *lines: str) -> None:
        self._screen.clear(scrollback=len(self._people) > 1)
        board = self._screen.render(view, self.names).splitlines()
        for line in (*board, *lines):
            self._screen.print(line)
        needed = len(board) + len(lines) + 1
        if self._screen.height is not None and needed > self._screen.height and not self._size_warned:
            self._size_warned = True
            self._screen.print(
                f"(The window has {self._screen.height} lines, but {needed} are needed: enlarge it.)"
            )

    def _news(self, view: View) -> list[str]:
        """Return sentences about the moves of others and the draws of this seat since its last move."""
        own_moves = [n for n, event in enumerate(view.events) if is_move(event) and event.p == view.seat]
        since = own_moves[-1] if own_moves else 0
        news = []
        for number, event in enumerate(view.events[since:], since):
            if is_move(event) and event.p != view.seat:
                reason = self._reasons.get(number, "")
                news.append(f"{self.names[event.p]} {describe_move(event)}.{_reason_sentence(event, reason)}")
            elif is_move(event) and self._can_undo(event.p):
                news.append(f"You {describe_move(event)}.")
            elif isinstance(event, Draw) and event.p == view.seat and own_moves:
                news.append(f"You drew {' '.join(event.tiles)}.")
        return news

    def _turn_line(self, view: View) -> str:
        moves = view.legal_moves()
        kinds = {move.kind for move in moves}
        call = f"{self.names[view.seat or 0]}, your turn" if len(self._people) > 1 else "Your turn"
        if "keep" in kinds:
            return "No tile in your hand shows your lowest colour: exchange the hand, or keep it? (u: undo)"
        if "place" not in kinds:
            return f"{call}: nothing can be placed, so you can only {' or '.join(sorted(kinds))}."
        last = last_move(view.events)
        again = " again" if last is not None and last.p == view.seat and view.players > 1 else ""
        example = next(move for move in moves if move.kind == "place")
        return f"{call}{again}. Type a move such as {example}, moves to see some, ? for help."

    def _next_step(self) -> str:
        if self.table.over:
            return "end the game"
        due = self.table.draw_due
        return f"draw {count(due, 'tile')} and continue" if due else "continue"

    # ------------------------------------------------------------ input and the saved game

    def _ask(self, prompt: str = "> ") -> str:
        try:
            return self._read_line(prompt).strip()
        except EOFError:
            self._screen.print()
            raise Quit from None

    def _save(self, *, confirmed: bool = True) -> None:
        moves = tuple(str(move) for move in self.table.moves)
        self.game = msgspec.structs.replace(self.game, moves=moves, confirmed=confirmed)
        saved_game.save(self.game)


def _reason_sentence(move: MoveEvent, reason: str) -> str:
    """Return a sentence with the reason of a bot, unless it only repeats the points."""
    repeated = isinstance(move, Place) and format_points(move.gain) in reason
    return f" Its reason: {reason}." if reason and not repeated else ""


# ---------------------------------------------------------------- answers to commands


def _number_moves(moves: Sequence[tuple[Move, str]]) -> list[str]:
    """Return a line for each move, with a number to choose it by and its text."""
    rows = [(str(number), str(move), text) for number, (move, text) in enumerate(moves, 1)]
    return format_table(rows, right=(0,), indent=2)


def _best_placements(view: View, filters: Sequence[str]) -> tuple[list[tuple[Move, str]], int]:
    """Return the placements with the most points, with their points, and the number of placements.

    Placements with equal points are ordered by the lowest tracks after the move.

    Args:
        view: the position.
        filters: names of cells and letters of tiles. Only placements that match all of them count.
    """
    moves = view.legal_moves()
    gains = view.gains(moves)
    own = np.array(list(view.scores[view.turn or 0].values()))
    fitting = [
        n
        for n, move in enumerate(moves)
        if move.kind == "place" and all(_matches(view, move, word) for word in filters)
    ]
    fitting.sort(key=lambda n: (int(gains[n].sum()), sorted(own + gains[n])), reverse=True)
    # Of moves that differ only in a named colour that scores nothing, one is listed.
    fitting = list({(moves[n].tile, moves[n].at, *gains[n].tolist()): n for n in reversed(fitting)}.values())[
        ::-1
    ]
    tracks = view.variant.tracks
    best = [
        (moves[n], format_points(dict(zip(tracks, gains[n].tolist(), strict=True))))
        for n in fitting[:MAX_LISTED_MOVES]
    ]
    return best, len(fitting)


def _matches(view: View, move: Move, word: str) -> bool:
    """Return whether a placement uses the cell or the tile that `word` names."""
    if word.lower() in move.at:
        return True
    kind = view.variant.kind_of(word.upper())
    return kind is not None and kind == view.variant.kind_of(move.tile)


def list_moves(view: View, filters: Sequence[str]) -> tuple[list[Move], list[str]]:
    """Return the best placements and the lines that list them. `filters` are cells and tiles."""
    best, total = _best_placements(view, filters)
    lines = _number_moves(best)
    if not best:
        lines = [f"  There is no placement{' with ' + ' '.join(filters) if filters else ''}."]
    elif total > len(best):
        lines.append(f"  ... the best {len(best)} of {total}; moves CELL or moves TILE filters them.")
    if others := sorted({move.kind for move in view.legal_moves() if move.kind != "place"}):
        lines.append(f"  You may also: {', '.join(others)}.")
    return [move for move, _ in best], lines


def list_hints(view: View, names: Sequence[str], rng: Generator) -> tuple[list[Move], list[str]]:
    """Return the best moves of a search, and lines with their values and the reasons for the first."""
    found = best_moves(view, Budget(HINT_SECONDS, HINT_ROLLOUTS), rng.bits() >> 1)
    wording = Wording("en", found.scale, tuple(names))
    if not found.suggestions:
        only = view.legal_moves()[0]
        return [only], [f"  {wording.text('hint_only')}", *_number_moves([(only, "")])]
    listed = [
        (
            Move.parse(suggestion.candidate.move),
            f"{wording.value(suggestion.candidate.value)} ± {wording.change(suggestion.candidate.error)}",
        )
        for suggestion in found.suggestions
    ]
    reasons = [f"  {wording.remark(remark)}" for remark in found.suggestions[0].remarks]
    return [move for move, _ in listed], [*_number_moves(listed), *reasons]


def describe_preview(move: Move, preview: Preview) -> str:
    """Return a sentence about the points of a move that has not been played."""
    if move.kind != "place":
        return f"{move} scores nothing."
    end = "; the game would be over" if preview.ends_game else ""
    return f"{move} would score {format_points(preview.gain)}{describe_pyramids(preview.pyramids)}{end}."


def help_lines(view: View) -> list[str]:
    """Return lines that explain the moves and commands that can be typed now."""
    moves = view.legal_moves()
    placement = next((move for move in moves if move.kind == "place"), None)
    naming = next((move for move in moves if move.named), None)
    kinds = {move.kind for move in moves}
    rows: list[tuple[str, str]] = []
    if placement is not None:
        rows.append((str(placement), _notation_help(placement)))
    if naming is not None:
        rows.append((str(naming), "the same, naming a colour for the empty corner, which then scores"))
    if "exchange" in kinds:
        exchange = next(move for move in moves if move.kind == "exchange")
        text = "replace these tiles" if exchange.tiles else "show your whole hand and draw a new one"
        rows.append((str(exchange), text))
    if "keep" in kinds:
        rows.append(("keep", "keep your hand and refill it"))
    if "pass" in kinds:
        rows.append(("pass", "nothing can be placed"))
    rows += [
        ("moves", "list the placements with the most points"),
        *_filter_help(placement),
        ("3", "play move 3 of the last list"),
        ("hint", "search for the best moves"),
        ("score MOVE", "show the points of a move without playing it"),
        ("board", "draw the board again"),
        ("undo", "take back a placement, before tiles are drawn"),
        ("position", "print the position, for other programs"),
        ("quit", "quit; the game is saved after every move"),
    ]
    return format_table(rows, indent=2)


def _notation_help(move: Move) -> str:
    if "," in move.at[0]:
        return "letters clockwise from top left; steps right,up from the start"
    return f"letters in the order of the cells; {move.tile.lower()} {' '.join(move.at)} works, too"


def _filter_help(placement: Move | None) -> list[tuple[str, str]]:
    if placement is None:
        return []
    return [(f"moves {placement.at[0]}", f"only those on a cell; moves {placement.tile}: of a tile")]
