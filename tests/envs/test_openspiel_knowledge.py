"""Information in OpenSpiel: observers and resampling keep all that a seat knows, and nothing more."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from axiogames.batch import Batch
from axiogames.envs.openspiel import SpielGame, SpielState, pyspiel, resampling
from axiogames.envs.openspiel.history import DRAWN, EXCHANGED, PASSED, PLACED
from axiogames.envs.openspiel.observer import COLUMNS
from axiogames.envs.openspiel.resampling import INDEPENDENT_TRIES
from axiogames.games import GAMES
from axiogames.games.runtime.state import DRAW, PLACE
from tests.envs.test_openspiel import loaded, options_of, played, resolve_chance

KINDS = pyspiel.PrivateInfoType


def information(state: SpielState, seat: int) -> tuple[Any, ...]:
    return (
        state.information_state_string(seat),
        state.observation_string(seat),
        state.information_state_tensor(seat),
        state.observation_tensor(seat),
    )


def observer(game: SpielGame, **settings: Any) -> Any:
    return game.make_py_observer(pyspiel.IIGObservationType(**settings))


def strong_action(state: SpielState, rng: Random) -> int:
    """Return an action with the most points, or sometimes a random one."""
    variant, truth = state.play.variant, state.play.state
    legal: list[int] = state.legal_actions()
    actions = variant.legal_actions(truth)
    gains = variant.gains(truth, actions).sum(axis=1)
    if rng.random() < 0.1 or not gains.any():
        return rng.choice(legal)
    return legal[int(gains.argmax())]


# ---------------------------------------------------------------- hidden information


@pytest.mark.parametrize("name", GAMES)
def test_information_state_does_not_depend_on_hidden_tiles(name: str) -> None:
    """With other hands of the opponents, a seat's strings stay the same and those of the opponents change."""
    game = loaded(name, players=3)
    hand = game.variant.hand
    for seat in range(3):
        rng = Random(seat)
        first, second = game.new_initial_state(), game.new_initial_state()
        while first.is_chance_node():
            outcomes, odds = zip(*first.chance_outcomes(), strict=True)
            drawn = other = rng.choices(outcomes, odds)[0]
            if first.play.phase == DRAW and first.play.seat != seat:
                able = set(outcomes) & {outcome for outcome, _ in second.chance_outcomes()}
                spare = [kind for kind in sorted(able) if kind % 3 == rng.randrange(3)]
                other = rng.choice(spare or sorted(able))
            if other not in dict(second.chance_outcomes()) or drawn not in dict(second.chance_outcomes()):
                drawn = other = min(set(outcomes) & {outcome for outcome, _ in second.chance_outcomes()})
            first.apply_action(drawn)
            second.apply_action(other)
            assert information(first, seat) == information(second, seat)
        assert str(first) != str(second)
        assert len(first.play.entries) >= 3 * hand
        for other in set(range(3)) - {seat}:
            if first.play.variant.hand_of(first.play.state, other) != second.play.variant.hand_of(
                second.play.state, other
            ):
                assert first.information_state_string(other) != second.information_state_string(other)


@pytest.mark.parametrize("name", GAMES)
def test_observation_matches_the_view(name: str) -> None:
    """A state with swapped hidden tiles gives the same observation."""
    game = loaded(name, players=2)
    rng = Random(1)
    for moves in (2, 7, 12):
        state = played(game, moves, moves=moves)
        seat = rng.randrange(2)
        before = (state.observation_string(seat), state.observation_tensor(seat))
        truth = state.play.state
        hand, bag = truth["hands"][0, 1 - seat], truth["bag"][0]
        old = int(hand[0])
        new = next(kind for kind in np.flatnonzero(bag).tolist() if kind != old)
        bag[old] += 1
        bag[new] -= 1
        hand[0] = new
        hand[: truth["held"][0, 1 - seat]].sort()
        assert (state.observation_string(seat), state.observation_tensor(seat)) == before
        assert state.observation_string(1 - seat) != before[0]


# ---------------------------------------------------------------- known information


@pytest.mark.parametrize("name", GAMES)
def test_information_state_keeps_everything(name: str) -> None:
    game = loaded(name, players=2, **options_of(name))
    rng, state = Random(2), game.new_initial_state()
    known = ["", ""]
    decisions = 0
    while not state.is_terminal():
        for seat in range(2):
            now = state.information_state_string(seat).split(" | ", 2)[2:]
            assert "".join(now).startswith(known[seat])
            known[seat] = "".join(now)
        if state.is_chance_node():
            resolve_chance(state, rng)
        else:
            state.apply_action(strong_action(state, rng))
            decisions += 1
    assert decisions > 10


@pytest.mark.parametrize("name", GAMES)
def test_observation_matches_a_batch(name: str) -> None:
    game = loaded(name, players=2)
    state = played(game, 3, moves=8)
    batch = Batch(name, 2, 1)
    batch.states[0] = state.play.state[0]
    for seat in range(2):
        observed = batch.observe(np.array([seat]))
        observer = game.make_py_observer()
        observer.set_from(state, seat)
        assert (observer.dict["board"] == observed.board[0]).all()
        assert (observer.dict["vector"] == observed.vector[0]).all()
        flat = [*observed.board.ravel().tolist(), *observed.vector.ravel().tolist()]
        assert state.observation_tensor(seat) == flat
    assert game.observation_tensor_size() == len(flat)


def test_events_are_rows_of_the_tensor() -> None:
    game = loaded(GAMES[3], players=2)
    rng, state = Random(1), game.new_initial_state()
    resolve_chance(state, rng)
    exchanges = [action for action in state.legal_actions() if action >= game.variant.placements]
    state.apply_action(exchanges[-1])
    resolve_chance(state, rng)
    state.apply_action(state.legal_actions()[0])
    for seat in range(2):
        recalled = observer(game, perfect_recall=True)
        recalled.set_from(state, seat)
        rows = recalled.dict["events"][: 6 + 3 + 3 + 1].astype(int).tolist()
        assert not recalled.dict["events"][len(rows) :].any()
        assert len(COLUMNS) == len(rows[0])
        assert [row[0] for row in rows] == [DRAWN] * 6 + [EXCHANGED] * 3 + [DRAWN] * 3 + [PLACED]
        mine = 1 + (0 - seat) % 2  # the seat with the first move
        assert [row[1] for row in rows] == [mine] * 3 + [3 - mine] * 3 + [mine] * 6 + [3 - mine]
        hidden = [row[2] == 0 for row in rows]
        assert hidden == (
            [False] * 3 + [True] * 3 + [False] * 7
            if seat == 0
            else [True] * 3 + [False] * 3 + [True] * 6 + [False]
        )
        assert rows[-1][3] == state.play.entries[-1].action + 1
        text = state.information_state_string(seat)
        assert ("exchange ? ? ?" in text) == (seat == 1)


def test_observers_honour_the_requested_type() -> None:
    game = loaded(GAMES[0], players=2)
    state = played(game, 1, moves=5)
    public = observer(game, public_info=True, perfect_recall=False, private_info=KINDS.NONE)
    assert public.string_from(state, 0) == public.string_from(state, 1)
    assert "hands=?,?,?,?,?;?,?,?,?,?" in public.string_from(state, 0)
    public.set_from(state, 0)
    one = public.tensor.copy()
    public.set_from(state, 1)
    assert (one == public.tensor).all()
    private = observer(game, public_info=False, perfect_recall=False, private_info=KINDS.SINGLE_PLAYER)
    private.set_from(state, 1)
    hand = game.variant.hand_of(state.play.state, 1)
    assert (
        private.dict["hand"].sum()
        == len(hand)
        == private.dict["hand"][[game.variant.kinds.index(t) for t in set(hand)]].sum()
    )
    assert private.string_from(state, 1) == f"seat 1 | hand={','.join(hand)}"
    recalled = observer(game, public_info=False, perfect_recall=True, private_info=KINDS.SINGLE_PLAYER)
    assert not re.search(r"\b0[:+]", recalled.string_from(state, 1))
    assert re.search(r"\b1:.*\b1[+]", recalled.string_from(state, 1))
    recalled.set_from(state, 1)
    assert set(recalled.dict["events"][:, 1].tolist()) == {0, 1}
    every = observer(game, public_info=True, perfect_recall=False, private_info=KINDS.ALL_PLAYERS)
    every.set_from(state, 0)
    assert every.dict["hands"].sum() == 10
    assert ",".join(hand) in every.string_from(state, 0)
    nothing = observer(game, public_info=False, perfect_recall=False, private_info=KINDS.NONE)
    nothing.set_from(state, 0)
    assert (nothing.string_from(state, 0), nothing.tensor.size) == ("", 0)
    with pytest.raises(pyspiel.SpielError, match="no parameters"):
        game.make_py_observer(None, {"colour": "red"})


# ---------------------------------------------------------------- resampling


def replay(state: SpielState) -> SpielState:
    """Return the state of a history after checking every step."""
    again: SpielState = state.get_game().new_initial_state()
    for action in state.history():
        assert action in again.legal_actions()
        again.apply_action(action)
    return again


@pytest.mark.parametrize(
    ("name", "players", "chosen"),
    [(name, players, {}) for name in GAMES for players in (1, 2, 3)] + [(GAMES[3], 2, {"short": True})],
)
def test_resampled_state_is_consistent_with_the_information_state(
    name: str, players: int, chosen: dict[str, bool]
) -> None:
    game = loaded(name, players=players, **chosen)
    rng, state = Random(7), game.new_initial_state()
    tried = changed = 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(outcomes, odds)[0])
        else:
            state.apply_action(strong_action(state, rng))
        if rng.random() < 0.08 or state.is_terminal():
            for seat in range(players):
                other = state.resample_from_infostate(seat, rng.random)
                assert information(other, seat) == information(state, seat)
                assert other.current_player() == state.current_player()
                assert other.scores().tolist() == state.scores().tolist()
                again = replay(other)
                assert again.play.state.tobytes() == other.play.state.tobytes()
                assert again.information_state_string(seat) == state.information_state_string(seat)
                if state.current_player() == seat:
                    assert other.legal_actions() == state.legal_actions()
                tried += 1
                changed += str(other) != str(state)
    assert tried > 3
    if players == 1 and not chosen:
        assert changed == 0
    else:
        assert changed > 0.3 * tried


def test_resampled_hands_cannot_place_where_a_seat_passed() -> None:
    """A seat that passed could place nothing, and neither could its resampled hand."""
    game, passes, changed = loaded(GAMES[3], players=3, short=True), 0, 0
    for seed in range(8):
        rng, state = Random(seed), game.new_initial_state()
        while not state.is_terminal():
            resolve_chance(state, rng)
            state.apply_action(strong_action(state, rng))
            if state.play.entries[-1].event != PASSED:
                continue
            passes += 1
            for seat in range(3):
                other = state.resample_from_infostate(seat, rng.random)
                assert replay(other).information_state_string(seat) == state.information_state_string(seat)
                changed += str(other) != str(state)
    assert passes > 5
    assert changed > 5


@pytest.mark.parametrize(("name", "tries"), [*((name, INDEPENDENT_TRIES) for name in GAMES), (GAMES[0], 0)])
def test_resampling_is_uniform(name: str, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first move, hidden tiles are uniform among the unseen ones.

    The same holds without independent deals, when tiles of the real deal are swapped.
    """
    monkeypatch.setattr(resampling, "INDEPENDENT_TRIES", tries)
    game = loaded(name, players=2)
    state = played(game, 2, moves=0)
    rng, count = Random(1), 250
    unseen = game.variant.redact(state.play.state, 0)["bag"][0].astype(int)
    found: Counter[int] = Counter()
    held = int(state.play.state["held"][0, 1])
    for _ in range(count):
        other = state.resample_from_infostate(0, rng.random)
        found.update(other.play.state["hands"][0, 1, :held].tolist())
    expected = count * held * unseen / unseen.sum()
    squares = [(found[kind] - mean) ** 2 / mean for kind, mean in enumerate(expected) if mean]
    assert set(found) <= set(np.flatnonzero(unseen).tolist())
    # The expected sum is about the number of kinds; drawing without replacement makes it smaller.
    assert 0.3 * len(squares) < sum(squares) < 1.9 * len(squares)


@pytest.mark.parametrize("name", GAMES)
def test_resampling_swaps_tiles_where_sampling_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "INDEPENDENT_TRIES", 0)
    game = loaded(name, players=3, **options_of(name))
    changed = 0
    for moves in (9, 15, 21):
        state = played(game, moves, moves=moves)
        for seat in range(3):
            other = state.resample_from_infostate(seat, Random(moves).random)
            assert information(replay(other), seat) == information(state, seat)
            changed += str(other) != str(state)
    assert changed > 5
    monkeypatch.setattr(resampling, "SWAP_TRIES", 0)
    assert state.resample_from_infostate(0, Random(1).random).history() == state.history()


def test_resampling_is_deterministic() -> None:
    state = played(loaded(GAMES[0], players=3), 4, moves=12)
    first, second, third = (state.resample_from_infostate(1, Random(seed).random) for seed in (1, 1, 2))
    assert first.history() == second.history() != third.history()
    sampler = pyspiel.UniformProbabilitySampler(3, 0.0, 1.0)
    assert state.resample_from_infostate(0, sampler).history() != state.history()
    with pytest.raises(pyspiel.SpielError, match="seat 3 is out of range: seats are 0 to 2"):
        state.resample_from_infostate(3, Random(1).random)


def test_openspiel_search_runs() -> None:
    """ISMCTS resamples states and looks them up by information state."""
    from open_spiel.python.algorithms import ismcts, mcts

    game = loaded(GAMES[2], players=2)
    state = played(game, 1, moves=18)
    assert state.play.phase == PLACE
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 1.0, 12, random_state=rng)
    assert bot.step(state) in state.legal_actions()
