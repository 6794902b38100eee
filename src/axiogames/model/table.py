"""Tables: games in play, with their history and the draws between the moves."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, Self

from ..drawing.scene import PlacedTile
from ..errors import AxioError, IllegalMove, ParseError, Reason, abbreviated
from ..games import find_variant
from ..games.runtime.loops import step
from ..games.runtime.state import DRAW, OVER, REMOVE, START
from ..games.variant import State, Variant, copied
from ..moves import Action, Cell, Move, Seat
from ..rng import Generator, seed_bytes
from .events import Display, Draw, Event, Exchange, Pass, Place, Removed, Start, append_event, redact_event
from .position import Position, check_seat, seat_number
from .view import View, last_placed, tiles_laid


class Table(Position):
    """A game in play, with its history.

    A table with a seed draws by itself: after each move it draws the tiles that are due. A table with
    `seed=None` draws nothing; the caller passes each tile to `draw`, for example to replay a record or to
    follow a game on a physical table.

    Args:
        variant: the game, its number of players and its options, from `find_variant`.
        seed: the seed of all draws, or `None`.

    Attributes:
        variant: the game, its number of players and its options.
        state: the current state, see `Position`.
        seed: the seed, or `None`.
        actions: the action ids so far, moves and outcomes of chance.

    Raises:
        ParseError: the seed cannot be encoded as UTF-8.

    >>> table = new_game("axio", players=2, seed=7)
    >>> table.turn
    0
    >>> move = table.legal_moves()[0]
    >>> gain = table.play(move)
    >>> table.turn
    1
    >>> table.undo() == move
    True
    """

    def __init__(self, variant: Variant, seed: int | str | None = None) -> None:
        super().__init__(variant, variant.new_state())
        if seed is not None:
            seed_bytes(seed)  # raises for a seed that cannot be encoded
        self.seed = seed
        self.actions: list[Action] = []
        self._moves: list[int] = []  # indices in `actions` of the moves of players; the others are chance
        self._events: list[Event] | None = None  # built on first use, see `_history`
        self.deal()

    # ------------------------------------------------------------ moves

    def play(self, move: Move | str, seat: Seat | None = None, *, deal: bool = True) -> dict[str, int]:
        """Play a move for the seat to move.

        Args:
            move: the move, or its text.
            seat: the seat that plays the move. By default any; otherwise it must be `turn`.
            deal: draw the tiles that are due. With `False`, `deal()` draws them later, and the move can be
                undone before any tile is revealed.

        Returns:
            The points that the move scored, by track.

        Raises:
            IllegalMove: the move breaks a rule. The table is unchanged.
            ParseError: the text is not a move. The table is unchanged.
        """
        move = Move.of(move)
        self._check_can_move(move, seat)
        return self._play(self.variant.encode(self.state, move), move, deal)

    def play_action(self, action: Action, seat: Seat | None = None, *, deal: bool = True) -> dict[str, int]:
        """Play a move by its action id, as listed in `legal_moves().actions`.

        Faster than `play`, because the move need not be encoded.

        Args:
            action: the action id.
            seat: the seat that plays the move. By default any; otherwise it must be `turn`.
            deal: draw the tiles that are due; see `play`.

        Returns:
            The points that the move scored, by track.

        Raises:
            IllegalMove: the action breaks a rule or is not an action of this game. The table is unchanged.
        """
        try:
            action_id = index(action)
        except TypeError:
            action_id = -1
        self._check_can_move(f"action {action}", seat)
        if not 0 <= action_id < self.variant.actions:
            detail = f"action ids are whole numbers from 0 to {self.variant.actions - 1}"
            raise IllegalMove(f"action {abbreviated(action)}", Reason.NOT_IN_THIS_GAME, detail)
        return self._play(action_id, None, deal)

    def play_unchecked(self, action: Action, *, deal: bool = True) -> None:
        """Play a legal action without a check. The fastest way to play.

        Args:
            action: the action id. An action that is not in `legal_moves().actions` corrupts the table.
            deal: draw the tiles that are due; see `play`.
        """
        # For a NumPy integer, the loop would be compiled again.
        self._step(int(action), checked=False)
        if deal:
            self.deal()

    def _check_can_move(self, move: Move | str, seat: Seat | None) -> None:
        """Raise `IllegalMove` unless it is the turn of `seat`, or of any seat if `seat` is `None`."""
        phase = self.state["phase"][0]
        if phase == OVER:
            raise IllegalMove(move, Reason.GAME_OVER)
        if seat is not None and seat_number(seat) != int(self.state["seat"][0]):
            raise IllegalMove(move, Reason.NOT_YOUR_TURN)
        if phase >= DRAW:
            raise IllegalMove(move, Reason.DRAW_DUE)

    def _play(self, action: Action, move: Move | None, deal: bool) -> dict[str, int]:
        reason = self._step(action, checked=True)
        if reason:
            raise IllegalMove(move or self.variant.decode(self.state, action), Reason.of(reason))
        placed = action < self.variant.placements
        gain = self._by_track(self.state["gain"][0].tolist()) if placed else {}
        if deal:
            self.deal()
        return gain

    # ------------------------------------------------------------ chance

    def deal(self) -> list[str]:
        """Draw the tiles that are due, if this table has a seed.

        Returns:
            The tiles drawn, as texts that `draw` accepts.
        """
        drawn: list[str] = []
        if self.seed is None:
            return drawn
        rng: Generator | None = None
        while self.draw_due:
            if rng is None:
                # The counter is the number of draws so far: after an undo, the same tiles are drawn again.
                rng = Generator(f"{self.seed}/deal", len(self.actions) - len(self._moves))
            outcomes = self.variant.chances(self.state)
            remaining = rng.randint(sum(weight for _, weight in outcomes))
            for action, weight in outcomes:
                remaining -= weight
                if remaining < 0:
                    drawn.append(self._chance_text(action))
                    self._step(action, checked=False)
                    break
        return drawn

    def _chance_text(self, action: Action) -> str:
        if self.state["phase"][0] != START:
            return self.variant.kinds[action]
        placed = self.variant.start_tile(self.state, action)
        return f"{placed.letters} {placed.at[0]}"

    def draw(self, tile: str | PlacedTile) -> None:
        """Draw a specific tile, at a table without a seed.

        Args:
            tile: the letters of the tile, such as `RG`. In an opening display also its cell: `RGBO 0,1`.

        Raises:
            IllegalMove: no draw is due, or this tile cannot be drawn.
            ParseError: the argument is neither text nor a tile.
        """
        if not isinstance(tile, str | PlacedTile):
            raise ParseError(f"{abbreviated(tile)} is not a tile: give its letters, such as 'RG'")
        phase = int(self.state["phase"][0])
        text = f"draw {tile if isinstance(tile, str) else ' '.join((tile.letters, *tile.at))}"
        if phase < DRAW:
            raise IllegalMove(text, Reason.NO_DRAW_DUE)
        if isinstance(tile, str) and " " in tile:
            letters, _, at = tile.partition(" ")
            tile = PlacedTile(letters, (at,))
        if isinstance(tile, PlacedTile):
            action = self.variant.start_action(self.state, tile) if phase == START else None
        else:
            action = self.variant.kind_of(tile) if phase in (DRAW, REMOVE) else None
        if action is None or action not in dict(self.variant.chances(self.state)):
            raise IllegalMove(text, Reason.NOT_IN_BAG)
        self._step(action, checked=False)

    # ------------------------------------------------------------ state and events

    def _step(self, action: Action, *, checked: bool) -> int:
        """Apply an action, and append its event if the events have been built.

        Return 0, or the reason why a checked action is refused. A refused action changes nothing.
        """
        variant, state = self.variant, self.state
        chance = state["phase"][0] >= DRAW
        if self._events is None:
            reason = variant.kernels[step](variant.constants, state, action, checked)
        elif chance:
            append_event(self._events, chance_event(variant, state, action))
            reason = variant.kernels[step](variant.constants, state, action, checked)
        else:
            reason = self._step_with_event(self._events, action, checked)
        if not reason:
            if not chance:
                self._moves.append(len(self.actions))
            self.actions.append(action)
        return int(reason)

    def _step_with_event(self, events: list[Event], action: Action, checked: bool) -> int:
        variant, state = self.variant, self.state
        seat, before = int(state["seat"][0]), variant.pyramids(state)
        move = variant.decode(state, action)
        exchanged = move.tiles
        if move.kind == "exchange" and not exchanged:
            exchanged = variant.hand_of(state, seat)
        reason: int = variant.kernels[step](variant.constants, state, action, checked)
        if reason:
            return reason
        if move.kind == "place":
            gain = self._by_track(state["gain"][0].tolist())
            new = tuple(cell for cell in variant.pyramids(state) if cell not in before)
            events.append(Place(seat, move.tile, move.at, gain, move.named, new))
        elif move.kind == "exchange":
            events.append(Exchange(seat, exchanged))
        elif move.kind == "pass":
            events.append(Pass(seat))
        return 0

    @property
    def _history(self) -> list[Event]:
        """The events so far. They are built on first use; from then on, every step appends.

        A table whose events are never read, such as one that checks a seed, is 20 to 50 % faster.
        """
        if self._events is None:
            self._events = events_of(self.variant, self.actions)
        return self._events

    def undo(self) -> Move:
        """Take back the last move and all draws after it.

        Returns:
            The move.

        Raises:
            AxioError: no move has been played.
        """
        if not self._moves:
            raise AxioError("there is no move to take back")
        last = self._moves[-1]
        undone = self.actions[last]
        self._replay(self.actions[:last])
        return self.variant.decode(self.state, undone)

    def _replay(self, actions: Iterable[Action]) -> None:
        """Restart and apply actions that are known to be legal."""
        self.state = self.variant.new_state()
        self.actions, self._moves, self._events = [], [], None
        for action in actions:
            self._step(action, checked=False)

    def _replay_checked(self, actions: object) -> None:
        """Restart and apply actions from an untrusted source.

        Raises:
            ParseError: an action is neither a legal move nor a possible outcome of chance.
        """
        if not isinstance(actions, list) or not all(type(action) is int for action in actions):
            raise ParseError("the actions of a table must be a list of integers")
        self._replay(())
        for n, action in enumerate(actions, 1):
            if chance := self.state["phase"][0] >= DRAW:
                legal = action in dict(self.variant.chances(self.state))
            else:
                legal = 0 <= action < self.variant.actions
            if not legal or self._step(action, checked=not chance):
                raise ParseError(f"action {n} of {len(actions)} of a table is not legal: {action}")

    # ------------------------------------------------------------ copies

    def copy(self) -> Self:
        """Return an independent table. With a seed, it draws the same tiles."""
        other = type(self).__new__(type(self))
        Position.__init__(other, self.variant, self.state.copy())
        other.seed = self.seed
        other.actions = self.actions.copy()
        other._moves = self._moves.copy()
        other._events = None if self._events is None else self._events.copy()
        return other

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without state and events, which follow from the actions."""
        return {name: value for name, value in vars(self).items() if name not in ("state", "_events")}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        variant = attributes.get("variant")
        if not isinstance(variant, Variant):
            raise ParseError("the pickle of a table has no variant")
        if attributes.get("seed") is not None:
            seed_bytes(attributes["seed"])
        vars(self).update(attributes)
        self._replay_checked(attributes.get("actions"))
        if attributes.get("_moves") != self._moves:
            raise ParseError("the pickle of a table lists draws as moves, or moves as draws")

    def __eq__(self, other: object) -> bool:
        """Return whether both tables have the same rules, seed, moves and draws."""
        if type(other) is not type(self):
            return NotImplemented
        return (self.variant, self.seed, self.actions) == (other.variant, other.seed, other.actions)

    __hash__ = None  # type: ignore[assignment]  # a table changes

    def _snapshot(self) -> Position:
        return Position(self.variant, copied(self.state))

    # ------------------------------------------------------------ history

    @property
    def hides_turn(self) -> bool:
        """Always `False`: a table knows all hands."""
        return False

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of all players so far."""
        state, moves = self.variant.new_state(), []
        move_indices = set(self._moves)
        for n, action in enumerate(self.actions):
            if n in move_indices:
                moves.append(self.variant.decode(state, action))
            self.variant.kernels[step](self.variant.constants, state, action, False)
        return tuple(moves)

    @property
    def plies(self) -> int:
        """The number of moves that players have played."""
        return len(self._moves)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, draws included. They contain hidden information; see `view`."""
        return tuple(self._history)

    def laid(self) -> tuple[PlacedTile, ...]:
        """Return the tiles placed so far, in order."""
        return tiles_laid(self._history)

    def last_placed(self) -> tuple[Cell, ...]:
        """Return the cells of the last placement."""
        return last_placed(self._history)

    def view(self, seat: Seat | None = None, *, since: int = 0) -> View:
        """Return the position and the events without the tiles that are hidden from a seat.

        Args:
            seat: the seat, or `None` for a spectator.
            since: the number of events to skip.

        Raises:
            AxioError: there is no such seat.
        """
        if seat is not None:
            seat = check_seat(seat, self.players)
        public = self.variant.exchange_is_public
        events = [redact_event(event, seat, public) for event in self._history[since:]]
        return View(self.variant, self.variant.redact(self.state, seat), seat, events)

    def follows_from(self, seed: int | str) -> bool:
        """Return whether `seed` leads to the tiles drawn at this table.

        Args:
            seed: a seed, as in `new_game`.
        """
        replayed = Table(self.variant, seed)
        for at in self._moves:
            if replayed.actions != self.actions[:at]:
                return False
            replayed.play_unchecked(self.actions[at])
        return replayed.actions[: len(self.actions)] == self.actions

    def __repr__(self) -> str:
        if self.seed is None:
            return f"<Table of {self.game} for {self.players}, {self.plies} moves, not dealing>"
        options = f", options={self.options}" if self.options else ""
        moves = [str(move) for move in self.moves]
        played = f", moves={moves}" if moves else ""
        return f"axio.new_game({self.game!r}, players={self.players}, seed={self.seed!r}{options}{played})"


def events_of(variant: Variant, actions: Iterable[Action]) -> list[Event]:
    """Return the events of a game from its actions, which include the outcomes of chance."""
    table = Table(variant)
    events: list[Event] = []
    table._events = events
    for action in actions:
        table._step(action, checked=False)
    return events


def chance_event(variant: Variant, state: State, action: Action) -> Draw | Removed | Start:
    """Return the event of an outcome of chance in a state in which a draw is due."""
    phase = state["phase"][0]
    if phase == START:
        placed = variant.start_tile(state, action)
        return Start((Display(placed.letters, placed.at[0]),))
    tiles = (variant.kinds[action],)
    if phase == REMOVE:
        return Removed(tiles)
    return Draw(int(state["seat"][0]), tiles, variant.source(state))


def new_game(
    game: str,
    players: int = 2,
    *,
    seed: int | str | None = None,
    options: Mapping[str, bool] | None = None,
    moves: Iterable[Move | str] = (),
) -> Table:
    """Start a game at a table with a seed, which draws by itself.

    Args:
        game: the name of a game, one of `GAMES`.
        players: the number of players, 1 to 4.
        seed: the seed of all draws. By default a random, secret one.
        options: options of the game to switch on, by name.
        moves: moves to play, or their texts.

    Returns:
        The table, waiting for the first player or for the player after `moves`.

    Raises:
        UnknownGame: there is no game of this name.
        InvalidPlayers: the game is not for this number of players.
        InvalidOption: the game has no such option.
        IllegalMove: one of `moves` breaks a rule.
        ParseError: one of `moves` is not a move, or the seed cannot be encoded as UTF-8.

    >>> new_game("hex", players=3, seed="club night").players
    3
    """
    table = Table(find_variant(game, players, options), secrets.token_hex(16) if seed is None else seed)
    for move in moves:
        table.play(move)
    return table
