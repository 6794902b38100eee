"""The games as games of OpenSpiel. Importing this module registers them.

>>> import pyspiel
>>> import axiogames.envs.openspiel
>>> from axiogames.games import GAMES
>>> game = pyspiel.load_game(f"axio_{GAMES[0]}(players=3,reward=place)")
>>> game.num_players(), game.get_type().chance_mode.name
(3, 'EXPLICIT_STOCHASTIC')
>>> state = game.new_initial_state()
>>> state.is_chance_node(), len(state.chance_outcomes())
(True, 15)

Parameters are `players` (1 to 4), `reward` (`win`, `place` or `lowest`; see
docs/reference/observations.md) and a game's options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import IllegalMove
from ...games import GAMES, find_variant
from ...games import game as declared_game
from ...games.protocol import MAX_PLAYERS
from ...games.runtime.state import DRAW, OVER
from ...model.position_text import write_position
from ...model.view import View
from ...moves import Move
from ...optional_deps import require
from ...players import Budget, player
from ...rng import Generator
from .history import History, Replay
from .observer import Observer
from .resampling import resample
from .returns import SPIEL_REWARDS, bounds, check_reward, is_zero_sum, returns_of, utility_range

pyspiel = require("pyspiel", "rl")

PREFIX = "axio_"
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


class SpielGame(pyspiel.Game):  # type: ignore[misc,name-defined]
    """A game of this package as a game of OpenSpiel, with the parameters described above."""

    name: str  # of a game of this package; each has a subclass

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        name = self.name
        values = {**parameters(name), **(params or {})}
        self.reward: str = check_reward(values["reward"])
        options = {option.name: values[option.name] for option in declared_game(name).options}
        self.variant = find_variant(name, values["players"], options)
        self.bounds = limits = bounds(self.variant)
        lowest, highest = utility_range(self.reward, self.variant.players, limits.points)
        zero_sum = is_zero_sum(self.reward, self.variant.players)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.variant.actions,
            max_chance_outcomes=limits.outcomes,
            num_players=self.variant.players,
            min_utility=lowest,
            max_utility=highest,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=limits.moves,
        )
        super().__init__(game_type(name, zero_sum=zero_sum, hides=limits.hides), info, dict(params or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (str(self),)

    def new_initial_state(self) -> SpielState:
        """Return the state before the first draw."""
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the maximum number of chance nodes in a game."""
        return self.bounds.draws

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> Observer:
        """Return an observer; by default, of the current observation of a seat."""
        if params:
            raise pyspiel.SpielError(f"observers of this game have no parameters, but got {dict(params)}")
        requested = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        everything = requested.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        rows = self.bounds.moves + self.bounds.draws + self.bounds.exchanged
        return Observer(
            self.variant,
            rows,
            public=requested.public_info,
            own=everything or requested.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER,
            everything=everything,
            recall=requested.perfect_recall,
        )


class SpielState(pyspiel.State):  # type: ignore[misc,name-defined]
    """A state of a game. `play` has all hidden information; players must not read it."""

    play: History

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.play = History(game.variant)

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's ids of chance and of the end."""
        phase = self.play.phase
        if phase == OVER:
            return TERMINAL
        return CHANCE if phase >= DRAW else self.play.seat

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.play.phase == OVER

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance and their probabilities."""
        return self.play.outcomes()

    def returns(self) -> list[float]:
        """Return the reward of each seat; 0 until the end of the game."""
        game: SpielGame = self.get_game()
        if self.play.phase != OVER:
            return [0.0] * game.variant.players
        return returns_of(game.variant, self.play.state, game.reward)

    def scores(self) -> np.ndarray:
        """Return the points: a row for each seat, a column for each track."""
        points: np.ndarray = self.play.state["scores"][0, : self.play.variant.players].copy()
        return points

    def move(self, action: int) -> Move:
        """Return the move of a legal action. Raises `IllegalMove`."""
        return self.play.move_of(action)

    def action(self, move: Move | str) -> int:
        """Return the action of a legal move.

        Raises:
            IllegalMove: the move is not legal here.
            ParseError: the text is not a move.
        """
        return self.play.action_of(move)

    def view(self, seat: int | None = None) -> View:
        """Return the view of a seat or a spectator (`None`), from which bots of this package choose."""
        return self.play.view(seat)

    def resample_from_infostate(self, player: int, rng: Callable[[], float]) -> SpielState:
        """Sample a state from the information state of a seat, with a complete history.

        The history is that of this state, with other tiles where the seat has not seen them.

        Args:
            player: the seat.
            rng: returns uniform random numbers in [0, 1).
        """
        if not 0 <= player < self.play.variant.players:
            raise pyspiel.SpielError(
                f"seat {player} is out of range: seats are 0 to {self.play.variant.players - 1}"
            )
        other = resample(self.play, player, rng)
        state: SpielState = self.get_game().new_initial_state()
        state.play = Replay(other)  # OpenSpiel records its own history; the rules have already been applied
        for entry in other.entries:
            state.apply_action(entry.action)
        state.play = other
        return state

    def _legal_actions(self, player: int) -> list[int]:
        return self.play.legal()

    def _apply_action(self, action: int) -> None:
        self.play.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == CHANCE:
            return self.play.outcome_text(action)
        try:
            return str(self.play.move_of(action))
        except IllegalMove:
            return f"action {action}"

    def __str__(self) -> str:
        """Return the text of the position, which `axiogames.Position.parse` reads."""
        return write_position(self.play.variant, self.play.state)


class SpielBot(pyspiel.Bot):  # type: ignore[misc,name-defined]
    """A player of this package as a bot of OpenSpiel. It sees the view of the seat to move only.

    Args:
        name: the name of the player, such as `balanced` or `sim@1s`.
        seed: the seed of its random generator.
        budget: limits of the computation; by default 1 second per move.
    """

    def __init__(self, name: str, seed: int | str = 0, budget: Budget | None = None) -> None:
        super().__init__()
        self._player, self._budget, self._rng = player(name), budget or Budget(), Generator(seed)

    def step(self, state: SpielState) -> int:
        """Return the action that the player chooses."""
        view = state.view(state.current_player())
        return state.action(self._player.choose(view, self._budget, self._rng).move)

    def restart_at(self, state: SpielState) -> None:
        """Do nothing: the bot has no memory."""

    def inform_action(self, state: SpielState, player_id: int, action: int) -> None:
        """Do nothing: the bot reads the next view."""


def parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a game and their defaults."""
    options = {option.name: False for option in declared_game(name).options}
    return {"players": 2, "reward": SPIEL_REWARDS[0], **options}


def game_type(name: str, *, zero_sum: bool = True, hides: bool = True) -> Any:
    """Return the type of a game, for its registration."""
    kind = pyspiel.GameType
    information, utility = kind.Information, kind.Utility
    return kind(
        short_name=PREFIX + name,
        long_name=declared_game(name).name,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if hides else information.PERFECT_INFORMATION,
        utility=utility.ZERO_SUM if zero_sum else utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=1,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters(name),
    )


def load(text: str) -> SpielGame:
    """Load a game from the text of its name and parameters. Pickles call this, which imports this module."""
    game: SpielGame = pyspiel.load_game(text)
    return game


def register() -> None:
    """Register the games for `pyspiel.load_game`."""
    for name in GAMES:
        # OpenSpiel keeps the factory until after the interpreter has shut down; only classes survive that.
        pyspiel.register_game(game_type(name), type(f"Spiel_{name}", (SpielGame,), {"name": name}))


register()
