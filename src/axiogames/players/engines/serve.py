"""Built-in players as an engine: a server of the protocol in docs/reference/engine_protocol.md."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from typing import TextIO

import msgspec

from ... import PROGRAM, __version__
from ...drawing.scene import PlacedTile
from ...errors import AxioError, ParseError
from ...games import find_variant
from ...games.variant import Variant
from ...model.events import UNKNOWN
from ...model.table import Table
from ...model.view import View
from ...moves import Move
from ...rng import Generator
from .. import Budget, Player, player
from .protocol import PROTOCOL_VERSION, LineTooLong, Request, answer, in_one_line, next_line, read_budget
from .seat_tracker import SeatTracker
from .views import legal_moves, read_view, write_view

MAX_REFUSAL = 600  # characters; a refusal may quote the request
WARM_UP = Budget(seconds=0.02, rollouts=50)

log = logging.getLogger(__name__)


class Engine:
    """A built-in player that speaks the engine protocol. It tracks one game from one seat.

    Args:
        game: the name of the game.
        bot: the name of the player.
        players: the number of players.
        options: the options of the game that are switched on.
    """

    def __init__(self, game: str, bot: str, *, players: int = 2, options: Sequence[str] = ()) -> None:
        variant = find_variant(game, players, dict.fromkeys(options, True))
        self._player: Player = player(bot)
        self._seed: int | str = secrets.token_hex(8)
        self._rng = Generator(self._seed)
        self._ready: set[tuple[Variant, str]] = set()
        self._game = SeatTracker(variant, 0)
        self.over = False

    def serve(self, source: TextIO, sink: TextIO) -> None:
        """Answer every line of `source` on `sink`, until the end of the input or `quit`."""
        while not self.over:
            try:
                line = next_line(source)
            except LineTooLong as error:
                self.over = error.endless
                reply: str | None = answer(error.id, str(error), refused=True)
            else:
                if line is None:
                    return
                reply = self.respond(line)
            if reply is not None:
                sink.write(reply)
                sink.flush()

    def respond(self, line: str) -> str | None:
        """Return the answer to a line, `None` for empty lines and comments. Never raises."""
        if not line.strip() or line.lstrip().startswith("#"):
            return None
        request = Request.parse(line)
        command = COMMANDS.get(request.name)
        try:
            line.encode()
            if command is None:
                raise ParseError(f"unknown command {request.name[:40]!r}: list_commands lists all")
            return answer(request.id, command(self, request.rest))
        except AxioError as error:
            return answer(request.id, in_one_line(str(error)[:MAX_REFUSAL]), refused=True)
        except UnicodeEncodeError:
            return answer(request.id, "the line is not UTF-8", refused=True)
        except Exception as error:  # an error in a player must not end the session
            log.exception("%s failed", request.name)
            return answer(request.id, in_one_line(f"internal error: {error!r}"), refused=True)

    def prepare(self) -> None:
        """Let a player of this kind choose a move, so that its code is compiled before the first request."""
        kind = self._player.name.partition("@")[0]
        if (self._game.variant, kind) not in self._ready:
            table = Table(self._game.variant, 0)
            player(kind).choose(table.view(table.turn), WARM_UP, Generator(0))
            self._ready.add((self._game.variant, kind))

    # ------------------------------------------------------------ about the engine

    def _protocol_version(self, rest: str) -> str:
        return PROTOCOL_VERSION

    def _name(self, rest: str) -> str:
        return f"{PROGRAM} {self._player.name}"

    def _version(self, rest: str) -> str:
        return __version__

    def _list_commands(self, rest: str) -> str:
        return "\n".join(COMMANDS)

    def _known_command(self, rest: str) -> str:
        return "true" if rest in COMMANDS else "false"

    def _quit(self, rest: str) -> str:
        self.over = True
        return ""

    def _settings(self, rest: str) -> str:
        return _json({"player": self._player.name, "seed": str(self._seed)})

    def _set(self, rest: str) -> str:
        name, _, value = rest.partition(" ")
        value = value.strip()
        if name == "player":
            self._player = player(value)
            self.prepare()
        elif name == "seed" and value:
            self._seed = value
            self._rng = Generator(value)
        else:
            raise ParseError("use 'set player NAME' or 'set seed TEXT'")
        return ""

    # ------------------------------------------------------------ the game

    def _new_game(self, rest: str) -> str:
        words = rest.split()
        old = self._game.variant
        if not words:
            raise ParseError("use 'new_game SEAT [PLAYERS [OPTION...]]'")
        players = _number(words[1], "number of players") if len(words) > 1 else old.players
        options = dict.fromkeys(words[2:] if len(words) > 1 else old.options, True)
        self._set_up(SeatTracker(find_variant(old.game.id, players, options), _number(words[0], "seat")))
        return ""

    def _view(self, rest: str) -> str:
        view = read_view(rest)
        if view.game != self._game.variant.game.id:
            raise ParseError(f"this engine was started for {self._game.variant.game.id}, not for {view.game}")
        self._set_up(SeatTracker.of(view))
        return ""

    def _set_up(self, game: SeatTracker) -> None:
        self._game = game
        self.prepare()

    def _start(self, rest: str) -> str:
        words = rest.split()
        if not words or len(words) % 2:
            raise ParseError("name each tile of the display and its cell, such as 'start RGBO 0,0'")
        self._game.start([PlacedTile(tile, (at,)) for tile, at in zip(words[::2], words[1::2], strict=True)])
        return ""

    def _remove(self, rest: str) -> str:
        self._game.remove(_number(rest, "number of tiles"))
        return ""

    def _draw(self, rest: str) -> str:
        seat, *tiles = rest.split() or [""]
        self._game.draw(_number(seat, "seat"), tiles)
        return ""

    def _play(self, rest: str) -> str:
        seat, _, text = rest.partition(" ")
        return _json(self._game.play(_number(seat, "seat"), _move(text)))

    def _undo(self, rest: str) -> str:
        self._game.undo()
        return ""

    def _show_view(self, rest: str) -> str:
        return write_view(self._game.view)

    def _show_board(self, rest: str) -> str:
        return f"\n{self._game.view.text()}"  # on a new line, so that its columns are aligned

    # ------------------------------------------------------------ moves

    def _legal(self, rest: str) -> str:
        return _json(legal_moves(self._own_turn()))

    def _points(self, rest: str) -> str:
        preview = self._own_turn().preview(rest)
        return _json({"gain": preview.gain, "pyramids": preview.pyramids, "ends_game": preview.ends_game})

    def _think(self, rest: str) -> str:
        view = self._own_turn()
        self.prepare()
        choice = self._player.choose(view, read_budget(rest), self._rng)
        candidates = [
            {"move": str(candidate.move), "value": candidate.value, "why": candidate.why}
            for candidate in choice.candidates
        ]
        return _json({"move": str(choice.move), "candidates": candidates})

    def _own_turn(self) -> View:
        view = self._game.view
        if view.over:
            raise AxioError("the game is over")
        if view.draw_due:
            raise AxioError(f"a draw is due: seat {int(view.state['seat'][0])} has to draw")
        if view.turn != view.seat:
            raise AxioError(f"it is the turn of seat {view.turn}, not of seat {view.seat}")
        return view


COMMANDS: dict[str, Callable[[Engine, str], str]] = {
    "protocol_version": Engine._protocol_version,
    "name": Engine._name,
    "version": Engine._version,
    "list_commands": Engine._list_commands,
    "known_command": Engine._known_command,
    "quit": Engine._quit,
    "settings": Engine._settings,
    "set": Engine._set,
    "new_game": Engine._new_game,
    "view": Engine._view,
    "start": Engine._start,
    "remove": Engine._remove,
    "draw": Engine._draw,
    "play": Engine._play,
    "undo": Engine._undo,
    "show_view": Engine._show_view,
    "show_board": Engine._show_board,
    "legal": Engine._legal,
    "points": Engine._points,
    "think": Engine._think,
}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _number(word: str, meaning: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 4):
        raise ParseError(f"{word[:20]!r} should be a number, the {meaning}")
    return int(word)


def _move(text: str) -> Move:
    word, *tiles = text.split() or [""]
    if word == "exchange" and tiles and all(tile == UNKNOWN for tile in tiles):
        return Move("exchange", tiles=tuple(tiles))
    return Move.parse(text)
