"""Batches have the same rules, observations and random games as single tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiogames.batch import REWARDS, Batch
from axiogames.errors import AxioError, InvalidBatchInput
from axiogames.games import GAMES as ALL_GAMES
from axiogames.games import find_variant
from axiogames.games.dominoes.board import SPENT
from axiogames.games.runtime import loops
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.loops import random_playouts
from axiogames.games.runtime.state import OFFER, OVER
from axiogames.games.trio.board import COVERED
from axiogames.games.variant import copied
from axiogames.model.position import Position
from tests.batch.traces import trace

# Every layout of states needs a compilation of its own. Together, these cover all rules.
CASES: list[tuple[str, int, dict[str, bool]]] = [
    ("axio", 1, {}),
    ("axio", 2, {}),
    ("rota", 1, {}),
    ("rota", 3, {}),
    ("trio", 2, {"short": True}),
    ("trio", 4, {}),
]
if INTERPRETED:
    CASES = [("axio", 2, {}), ("hex", 1, {}), ("rota", 1, {}), ("trio", 2, {"short": True})]
GAMES = 2 if INTERPRETED else 6
each_case = pytest.mark.parametrize(("game", "players", "options"), CASES)


def new_batch(game: str, players: int, options: dict[str, bool], **settings: Any) -> Batch:
    games, seed = settings.pop("games", GAMES), settings.pop("seed", 5)
    return Batch(game, players, games, seed=seed, options=options, **settings)


def positions(batch: Batch) -> list[Position]:
    return [Position(batch.variant, copied(batch.states[i : i + 1])) for i in range(batch.games)]


def by_name(batch: Batch, vector: np.ndarray) -> dict[str, int]:
    return dict(zip(batch.observation.names, vector.tolist(), strict=True))


@each_case
@pytest.mark.parametrize("style", ["sample", "greedy"])
def test_every_action_has_the_effect_of_the_rules(
    game: str, players: int, options: dict[str, bool], style: str
) -> None:
    batch = new_batch(game, players, options, auto_reset=False)
    rng = np.random.default_rng(1)
    plies = 0
    while not batch.over.all() and plies < (5 if INTERPRETED else 400):
        plies += 1
        before, masks, counts = positions(batch), batch.masks(), batch.counts()
        for position, mask, count in zip(before, masks, counts, strict=True):
            legal = [] if position.over else position.legal_moves().actions.tolist()
            masked = np.flatnonzero(mask)
            assert len(legal) == len(masked) == count
        indices = rng.integers(0, 1 << 40, batch.games)
        for action, index, mask, count in zip(batch.nth(indices), indices, masks, counts, strict=True):
            assert count == 0 or action == np.flatnonzero(mask)[index % count]
        chosen = (batch.greedy() if style == "greedy" else batch.sample()).copy()
        step = batch.step(chosen)
        for i, (position, action) in enumerate(zip(before, chosen.tolist(), strict=True)):
            assert step.ended[i] == (batch.states["phase"][i] == OVER)
            if position.over:
                assert not step.gains[i].any()
                continue
            assert masks[i, action] == 1
            actions = position.legal_moves().actions
            assert int(actions[np.flatnonzero(masks[i]).tolist().index(action)]) == action
            if style == "greedy" and action < batch.variant.placements:
                points = position.gains(position.legal_moves()).sum(axis=1)
                assert points[actions.tolist().index(action)] == points.max()
            state = position.state
            batch.variant.kernels[loops.step](batch.variant.constants, state, action, True)
            seat = int(before[i].state["seat"][0])
            assert (state["scores"][0] == batch.states["scores"][i]).all()
            assert 0 <= seat < players
    assert INTERPRETED or batch.over.all()


@each_case
def test_stepped_and_whole_games_are_the_same(game: str, players: int, options: dict[str, bool]) -> None:
    """The same random generators give the same games by steps, as playouts of a batch, and one by one."""
    games = 1 if INTERPRETED else GAMES
    stepping, whole = (new_batch(game, players, options, games=games, auto_reset=False) for _ in range(2))
    variant = stepping.variant
    start = np.arange(1, games + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    stepping.rngs[:] = whole.rngs[:] = start
    stepping.reset()
    moves = 0
    while not stepping.over.all():
        moves += int((~stepping.over).sum())
        stepping.step(stepping.sample(), checked=False)
    assert whole.play_randomly() == moves
    assert whole.states.tobytes() == stepping.states.tobytes()
    for i in range(games):
        alone = variant.new_state()
        variant.kernels[random_playouts](
            variant.constants, variant.opening, alone, start[i : i + 1].copy(), 1
        )
        assert alone.tobytes() == stepping.states[i : i + 1].tobytes()


@pytest.mark.skipif(not INTERPRETED, reason="`make slow` compares compact states in compiled batches")
def test_compact_states_play_the_same_whole_games() -> None:
    full = find_variant("axio", 2)
    for seed in range(1, 3):
        played = []
        for variant in (full, full.compact):
            state, rng = variant.new_state(), np.array([seed], np.uint64)
            moves = variant.kernels[random_playouts](variant.constants, variant.opening, state, rng, 1)
            fields = [state[name].tobytes() for name in ("cells", "scores", "bag", "hands", "free", "open")]
            played.append((moves, rng[0], fields))
        assert played[0] == played[1]


@pytest.mark.parametrize(
    "players",  # compiled, it takes as long as ten other tests; `make test` runs it interpreted
    [1, 2] if INTERPRETED else [pytest.param(players, marks=pytest.mark.slow) for players in (1, 2)],
)
def test_compact_states_are_smaller_and_play_the_same_games(players: int) -> None:
    games, rounds = (1, 3) if INTERPRETED else (16, 60)
    full, compact = (
        Batch("axio", players, games, seed=3, reward="lowest", compact=compact) for compact in (False, True)
    )
    assert compact.states.itemsize < 0.6 * full.states.itemsize
    assert trace(compact, rounds, states=False) == trace(full, rounds, states=False)


def test_compact_variant_is_the_full_one_where_nothing_can_be_omitted() -> None:
    assert Batch("trio", 2, 1, compact=True).variant is Batch("trio", 2, 1).variant


def test_states_are_an_odd_number_of_words() -> None:
    """The same byte of 32 adjacent states then lies in 32 or 16 banks of a GPU's shared memory."""
    for game in ALL_GAMES:
        for players in (1, 2, 3, 4):
            for variant in (find_variant(game, players), find_variant(game, players).compact):
                dtype = variant.opening.dtype
                word = max(4, *(dtype[name].base.itemsize for name in dtype.names))
                assert dtype.itemsize // word % 2 == 1
                assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize


@each_case
def test_observation_matches_the_view(game: str, players: int, options: dict[str, bool]) -> None:
    batch = new_batch(game, players, options)
    for _ in range(3 if INTERPRETED else 12):
        for seat in range(players):
            observed = batch.observe(np.full(batch.games, seat))
            for i, truth in enumerate(positions(batch)):
                view = Position(batch.variant, batch.variant.redact(truth.state, seat))
                entries = by_name(batch, observed.vector[i])
                hand = view.hand(seat)
                for kind in batch.variant.kinds:
                    assert entries[f"hand.{kind}"] == hand.count(kind)
                    assert entries[f"unseen.{kind}"] == view.unseen.get(kind, 0)
                for turn in range(players):
                    other = (seat + turn) % players
                    assert entries[f"seat{turn}.tiles"] == len(view.hand(other))
                    assert entries[f"seat{turn}.moves"] == (view.turn == other)
                    for track, points in view.scores[other].items():
                        assert entries[f"seat{turn}.points.{track}"] == points
                assert entries["bag"] == view.in_bag
                assert entries["phase.place"] + entries["phase.offer"] == 1
        batch.step(batch.greedy())


@each_case
def test_observation_has_no_hidden_information(game: str, players: int, options: dict[str, bool]) -> None:
    """A position and its view for a seat give the same observation."""
    batch = new_batch(game, players, options, auto_reset=False)
    hidden = new_batch(game, players, options, auto_reset=False)
    for _ in range(3 if INTERPRETED else 40):
        batch.step(batch.sample())
        for seat in range(players):
            seats = np.full(batch.games, seat)
            observed = [part.copy() for part in batch.observe(seats)]
            for i in range(batch.games):
                hidden.states[i : i + 1] = batch.variant.redact(batch.states[i : i + 1].copy(), seat)
            known = hidden.observe(seats)
            assert (observed[0] == known.board).all()
            assert (observed[1] == known.vector).all()


def test_observation_has_no_hidden_information_during_a_secret_exchange() -> None:
    batch = new_batch("trio", 2, {}, games=2, auto_reset=False)
    variant = batch.variant
    state, seat = copied(batch.states[:1]), int(batch.turn[0])
    variant.kernels[loops.step](variant.constants, state, variant.placements, True)
    assert state["n_aside"][0] == 1
    for observer in range(2):
        batch.states[0], batch.states[1] = state[0], variant.redact(state, observer)[0]
        boards, vectors = batch.observe(np.full(2, observer))
        assert (boards[0] == boards[1]).all()
        assert (vectors[0] == vectors[1]).all()
        aside = variant.kinds[state["aside"][0, 0]]
        for kind in variant.kinds:
            unseen = int(state["bag"][0, variant.kinds.index(kind)])
            unseen += variant.hand_of(state, 1 - observer).count(kind)
            unseen += kind == aside and observer != seat
            assert by_name(batch, vectors[0])[f"unseen.{kind}"] == unseen


@pytest.mark.parametrize("game", ["axio", "trio", *(["hex"] if INTERPRETED else [])])
def test_board_planes_match_the_content(game: str) -> None:
    batch = new_batch(game, 2, {})
    for _ in range(4 if INTERPRETED else 20):
        batch.step(batch.greedy())
    layout = batch.observation.board
    assert layout.named == 0
    boards = batch.observe().board
    for board, position in zip(boards, positions(batch), strict=True):
        content = position.content()
        shown = {
            at: letter for tile in content.tiles for at, letter in zip(tile.at, tile.letters, strict=True)
        }
        shown |= dict(content.printed) | dict(content.loose)
        for cell, place in zip(content.cells, layout.places.tolist(), strict=True):
            planes = [name for name, plane in zip(layout.names, board, strict=True) if plane.flat[place]]
            planes = [name for name in planes if name != "star"]
            expected = shown.get(cell) or ("pyramid" if cell in content.pyramids else None)
            if expected is None and not planes:
                continue  # a cell outside the board of this number of players
            assert planes == [expected or "empty"]


def test_board_rows_list_the_free_squares() -> None:
    batch = new_batch("rota", 2, {})
    for _ in range(2 if INTERPRETED else 8):
        batch.step(batch.greedy())
    boards = batch.observe().board
    for i, position in enumerate(positions(batch)):
        moves = position.legal_moves()
        free = sorted({move.at[0] for move in moves}, key=lambda at: [m.at[0] for m in moves].index(at))
        assert by_name(batch, batch.observe().vector[i])["free"] == len(free)
        assert not boards[i, len(free) :].any()
        tiles = {tile.at[0]: tile.letters for tile in position.content().tiles}
        low = [min(int(at.split(",")[axis]) for at in tiles) for axis in (0, 1)]
        for row, at in zip(boards[i], free, strict=False):
            x, y = (int(part) for part in at.split(","))
            assert (row[0], row[1]) == (x - low[0], y - low[1])
            # Its first corner is the top left one: the tile to the left shows its top right corner there.
            left = tiles.get(f"{x - 1},{y}")
            symbol = 0 if left is None else 1 if left[1] == "_" else 2 + batch.variant.colours.index(left[1])
            assert row[2] == symbol


@pytest.mark.parametrize("reward", list(REWARDS))
@pytest.mark.parametrize("players", [1, 2] if INTERPRETED else [1, 3])
def test_rewards(reward: str, players: int) -> None:
    games = 1 if INTERPRETED else 40
    batch = new_batch("rota", players, {}, games=games, reward=reward)
    n_ended = 0
    for _ in range(60):
        step = batch.step(batch.sample() if INTERPRETED else batch.greedy())
        assert (step.rewards[~step.ended] == 0).all()
        for i in np.flatnonzero(step.ended):
            n_ended += 1
            final = copied(batch.variant.opening)
            final["scores"][0, :players] = batch.finals[i]
            places = np.array(Position(batch.variant, final).ranks)
            lowest = batch.finals[i].min(axis=1)
            worse = [(places > place).sum() for place in places]
            better = [(places < place).sum() for place in places]
            winners = (places == 1).sum()
            expected = {
                "none": np.zeros(players),
                "lowest": lowest,
                "place": (np.array(worse) - better) / max(players - 1, 1),
                "win": np.ones(1)
                if players == 1
                else np.where(places == 1, (players - winners) / winners, -1) / (players - 1),
            }[reward]
            assert step.rewards[i] == pytest.approx(expected)
    assert n_ended >= games
    assert not batch.over.any()


def test_threads_and_other_games_change_nothing() -> None:
    single, threaded = (
        new_batch("axio", 2, {}, games=3),
        new_batch("axio", 2, {}, games=7 if INTERPRETED else 50, threads=3),
    )
    for _ in range(4 if INTERPRETED else 60):
        first, second = single.step(single.sample()), threaded.step(threaded.sample())
        assert single.states.tobytes() == threaded.states[:3].tobytes()
        assert (first.rewards == second.rewards[:3]).all()
    threaded.close()
    other = new_batch("axio", 2, {}, games=3, seed=6)
    assert other.states.tobytes() != new_batch("axio", 2, {}, games=3).states.tobytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_step_and_observe_equals_separate_calls(threads: int) -> None:
    games = 5 if INTERPRETED else 20
    separate, combined = (
        new_batch("axio", 2, {}, games=games),
        new_batch("axio", 2, {}, games=games, threads=threads),
    )
    actions, chosen = separate.sample().copy(), combined.sample()
    for _ in range(3 if INTERPRETED else 40):
        assert actions.tolist() == chosen.tolist()
        step = separate.step(actions)
        found = combined.step_and_observe(chosen, sample=True)
        observed, actions, chosen = separate.observe(), separate.sample().copy(), found.sampled
        pairs = [*zip(step, found.step, strict=True), *zip(observed, found.observation, strict=True)]
        for expected_array, found_array in (*pairs, (separate.masks(), found.masks)):
            assert expected_array.shape == found_array.shape
            assert expected_array.tobytes() == found_array.tobytes()
    again = combined.step_and_observe(chosen)
    assert again.sampled.tobytes() == actions.tobytes()  # unchanged without `sample`
    before = combined.states.tobytes()
    with pytest.raises(InvalidBatchInput, match="is illegal in game"):
        combined.step_and_observe(np.full(games, combined.num_actions - 1))
    assert combined.states.tobytes() == before
    combined.close()


def test_offer_has_two_actions() -> None:
    batch = new_batch("axio", 2, {}, games=2)
    batch.states["phase"][1] = OFFER
    first = batch.variant.placements
    assert batch.counts()[1] == 2
    assert np.flatnonzero(batch.masks()[1]).tolist() == [first, first + 1]
    for index in range(2):
        assert batch.nth(np.full(2, index))[1] == first + index
    assert batch.greedy()[1] == first


def test_cell_that_lost_its_pyramid_is_spent() -> None:
    batch = new_batch("axio", 2, {}, games=1)
    batch.states["cells"][0, 7] = SPENT
    layout = batch.observation.board
    planes = [
        name for name, plane in zip(layout.names, batch.observe().board[0], strict=True) if plane.flat[7]
    ]
    assert planes == ["spent"]


@pytest.mark.parametrize("tiles_left", [0, 30])
def test_seat_that_cannot_place_exchanges_or_passes(tiles_left: int) -> None:
    batch = new_batch("trio", 2, {}, games=1)
    batch.states["slot"] = COVERED
    batch.states["in_bag"] = tiles_left
    state = copied(batch.states)
    actions = batch.variant.legal_actions(state).tolist()
    assert batch.variant.decode(state, actions[0]).kind == ("exchange" if tiles_left else "pass")
    assert np.flatnonzero(batch.masks()[0]).tolist() == actions
    assert batch.counts().tolist() == [len(actions)]
    assert [int(batch.nth(np.array([i]))[0]) for i in range(len(actions))] == actions
    assert int(batch.greedy()[0]) in actions
    batch.states["phase"] = OVER
    assert not batch.masks().any()


def test_finished_games_ignore_actions() -> None:
    batch = new_batch("rota", 1, {}, games=2, auto_reset=False)
    moves, scored = batch.play_greedily()
    assert scored > moves > 10
    assert batch.over.all()
    before = batch.states.tobytes()
    for actions in (batch.sample(), batch.greedy(), batch.nth(np.array([3, 4]))):
        assert actions.tolist() == [0, 0]
        step = batch.step(actions)
        assert step.ended.all()
        assert not step.rewards.any()
    assert not batch.counts().any()
    assert not batch.masks().any()
    assert batch.observe().vector[:, batch.observation.names.index("phase.over")].all()
    assert batch.states.tobytes() == before


def test_selected_games_are_reset() -> None:
    batch = new_batch("axio", 2, {}, games=4)
    batch.step(batch.sample())
    before = batch.states.copy()
    batch.reset(np.array([True, False, False, True]))
    assert (batch.states["n_free"][[0, 3]] > before["n_free"][[0, 3]]).all()
    assert batch.states[1:3].tobytes() == before[1:3].tobytes()


def test_invalid_arguments_change_nothing() -> None:
    batch = new_batch("rota", 2, {}, games=3)
    legal = batch.sample().copy()
    before = batch.states.tobytes()
    for illegal in (-1, batch.num_actions, batch.num_actions - 1, 1 << 40):
        actions = legal.astype(np.int64)
        actions[1] = illegal
        with pytest.raises(InvalidBatchInput, match="is illegal in game 1 of the batch"):
            batch.step(actions)
    invalid: list[Any] = [legal[:2], legal.astype(float), "moves", None]
    for value in invalid:
        with pytest.raises(InvalidBatchInput, match="actions must be 3 integers"):
            batch.step(value)
    with pytest.raises(InvalidBatchInput, match="seats must be from 0 to 1"):
        batch.observe(np.array([0, 2, 0]))
    assert batch.states.tobytes() == before
    assert "rota" in repr(batch)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games must be at least 1"),
        ({"games": 2.5}, "games must be an integer"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"reward": "gold"}, "unknown reward 'gold': choose from none, win"),
        ({"game": "chess"}, "chess"),
        ({"players": 9}, "9"),
        ({"options": {"huge": True}}, "huge"),
    ],
)
def test_invalid_settings_are_rejected(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(AxioError, match=message):
        Batch(**{"game": "rota", **arguments})


@pytest.mark.parametrize(("games", "message"), [(0, "at least 1, not 0"), (1.5, "an integer, not 1.5")])
def test_invalid_numbers_of_whole_games_are_rejected(games: Any, message: str) -> None:
    batch = new_batch("rota", 2, {}, games=3)
    before = batch.states.tobytes()
    for play in (batch.play_randomly, batch.play_greedily):
        with pytest.raises(InvalidBatchInput, match=f"games must be {message}"):
            play(games)
    assert batch.states.tobytes() == before
