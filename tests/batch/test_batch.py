"""A batch plays by the same rules as a table, game by game, move by move."""

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

# Every layout of a state is compiled for by itself: these have all rules between them.
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


def made(game: str, players: int, options: dict[str, bool], **more: Any) -> Batch:
    return Batch(game, players, more.pop("games", GAMES), seed=more.pop("seed", 5), options=options, **more)


def positions(batch: Batch) -> list[Position]:
    return [Position(batch.variant, copied(batch.states[i : i + 1])) for i in range(batch.games)]


def names(batch: Batch, vector: np.ndarray) -> dict[str, int]:
    return dict(zip(batch.observation.names, vector.tolist(), strict=True))


@each_case
@pytest.mark.parametrize("style", ["sample", "greedy"])
def test_every_move_is_the_tables_move(game: str, players: int, options: dict[str, bool], style: str) -> None:
    batch = made(game, players, options, auto_reset=False)
    rng = np.random.default_rng(1)
    plies = 0
    while not batch.over.all() and plies < (5 if INTERPRETED else 400):
        plies += 1
        before, masks, counts = positions(batch), batch.masks(), batch.counts()
        for position, mask, count in zip(before, masks, counts, strict=True):
            legal = [] if position.over else position.legal_moves().actions.tolist()
            marked = np.flatnonzero(mask)
            assert len(legal) == len(marked) == count
        ranks = rng.integers(0, 1 << 40, batch.games)
        numbers = batch.nth(ranks)
        for number, rank, mask, count in zip(numbers, ranks, masks, counts, strict=True):
            assert count == 0 or number == np.flatnonzero(mask)[rank % count]
        numbers = (batch.greedy() if style == "greedy" else batch.sample()).copy()
        step = batch.step(numbers)
        for i, (position, number) in enumerate(zip(before, numbers.tolist(), strict=True)):
            assert step.ended[i] == (batch.states["phase"][i] == OVER)
            if position.over:
                assert not step.gains[i].any()
                continue
            assert masks[i, number] == 1
            actions = position.legal_moves().actions
            action = int(actions[np.flatnonzero(masks[i]).tolist().index(number)])
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
def test_steps_and_whole_games_are_the_same(game: str, players: int, options: dict[str, bool]) -> None:
    """The same generators make the same games one move at a time, in one go, and one by one."""
    games = 1 if INTERPRETED else GAMES
    stepping, whole = (made(game, players, options, games=games, auto_reset=False) for _ in range(2))
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


def test_a_lean_state_plays_the_same_whole_games() -> None:
    usual = find_variant("axio", 2)
    for seed in range(1, 3 if INTERPRETED else 40):
        played = []
        for variant in (usual, usual.compact):
            state, rng = variant.new_state(), np.array([seed], np.uint64)
            moves = variant.kernels[random_playouts](variant.constants, variant.opening, state, rng, 1)
            kept = [state[name].tobytes() for name in ("cells", "scores", "bag", "hands", "free", "open")]
            played.append((moves, rng[0], kept))
        assert played[0] == played[1]


@pytest.mark.parametrize(
    "players",  # compiled, that takes as long as ten other tests; `make test` sees it interpreted
    [1, 2] if INTERPRETED else [pytest.param(players, marks=pytest.mark.slow) for players in (1, 2)],
)
def test_a_lean_state_is_smaller_and_plays_the_same_games(players: int) -> None:
    games, rounds = (1, 3) if INTERPRETED else (16, 60)
    usual, compact = (
        Batch("axio", players, games, seed=3, reward="lowest", compact=compact) for compact in (False, True)
    )
    assert compact.states.itemsize < 0.6 * usual.states.itemsize
    assert trace(compact, rounds, states=False) == trace(usual, rounds, states=False)


def test_where_nothing_can_be_left_out_a_lean_state_is_the_usual_one() -> None:
    assert Batch("trio", 2, 1, compact=True).variant is Batch("trio", 2, 1).variant


def test_states_are_an_odd_number_of_words() -> None:
    """Then the same byte of 32 states side by side lies in 32 or 16 banks of a GPU's fast memory."""
    for game in ALL_GAMES:
        for players in (1, 2, 3, 4):
            for variant in (find_variant(game, players), find_variant(game, players).compact):
                dtype = variant.opening.dtype
                word = max(4, *(dtype[name].base.itemsize for name in dtype.names))
                assert dtype.itemsize // word % 2 == 1
                assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize


@each_case
def test_an_observation_is_what_the_view_says(game: str, players: int, options: dict[str, bool]) -> None:
    batch = made(game, players, options)
    for _ in range(3 if INTERPRETED else 12):
        for seat in range(players):
            seen = batch.observe(np.full(batch.games, seat))
            for i, truth in enumerate(positions(batch)):
                view = Position(batch.variant, batch.variant.redact(truth.state, seat))
                told = names(batch, seen.vector[i])
                hand = view.hand(seat)
                for kind in batch.variant.kinds:
                    assert told[f"hand.{kind}"] == hand.count(kind)
                    assert told[f"unseen.{kind}"] == view.unseen.get(kind, 0)
                for turn in range(players):
                    other = (seat + turn) % players
                    assert told[f"seat{turn}.tiles"] == len(view.hand(other))
                    assert told[f"seat{turn}.moves"] == (view.turn == other)
                    for track, points in view.scores[other].items():
                        assert told[f"seat{turn}.points.{track}"] == points
                assert told["bag"] == view.in_bag
                assert told["phase.place"] + told["phase.offer"] == 1
        batch.step(batch.greedy())


@each_case
def test_an_observation_shows_nothing_hidden(game: str, players: int, options: dict[str, bool]) -> None:
    """A true position and what a seat may know of it are observed alike."""
    batch = made(game, players, options, auto_reset=False)
    hidden = made(game, players, options, auto_reset=False)
    for _ in range(3 if INTERPRETED else 40):
        batch.step(batch.sample())
        for seat in range(players):
            seats = np.full(batch.games, seat)
            seen = [part.copy() for part in batch.observe(seats)]
            for i in range(batch.games):
                hidden.states[i : i + 1] = batch.variant.redact(batch.states[i : i + 1].copy(), seat)
            known = hidden.observe(seats)
            assert (seen[0] == known.board).all()
            assert (seen[1] == known.vector).all()


def test_nor_in_the_middle_of_a_secret_exchange() -> None:
    batch = made("trio", 2, {}, games=2, auto_reset=False)
    variant = batch.variant
    state, seat = copied(batch.states[:1]), int(batch.turn[0])
    variant.kernels[loops.step](variant.constants, state, variant.placements, True)
    assert state["n_aside"][0] == 1
    for looking in range(2):
        batch.states[0], batch.states[1] = state[0], variant.redact(state, looking)[0]
        boards, vectors = batch.observe(np.full(2, looking))
        assert (boards[0] == boards[1]).all()
        assert (vectors[0] == vectors[1]).all()
        aside = variant.kinds[state["aside"][0, 0]]
        for kind in variant.kinds:
            unseen = int(state["bag"][0, variant.kinds.index(kind)])
            unseen += variant.hand_of(state, 1 - looking).count(kind)
            unseen += kind == aside and looking != seat
            assert names(batch, vectors[0])[f"unseen.{kind}"] == unseen


@pytest.mark.parametrize("game", ["axio", "trio", *(["hex"] if INTERPRETED else [])])
def test_the_board_is_shown_cell_by_cell(game: str) -> None:
    batch = made(game, 2, {})
    for _ in range(4 if INTERPRETED else 20):
        batch.step(batch.greedy())
    layout = batch.observation.board
    assert layout.named == 0
    boards = batch.observe().board
    for board, position in zip(boards, positions(batch), strict=True):
        content = position.content()
        shown = {
            at: letter for laid in content.tiles for at, letter in zip(laid.at, laid.letters, strict=True)
        }
        shown |= dict(content.printed) | dict(content.loose)
        for cell, place in zip(content.cells, layout.places.tolist(), strict=True):
            lit = [name for name, plane in zip(layout.names, board, strict=True) if plane.flat[place]]
            lit = [name for name in lit if name != "star"]
            expected = shown.get(cell) or ("pyramid" if cell in content.pyramids else None)
            if expected is None and not lit:
                continue  # a square that is never played on
            assert lit == [expected or "empty"]


def test_the_display_is_shown_by_its_free_squares() -> None:
    batch = made("rota", 2, {})
    for _ in range(2 if INTERPRETED else 8):
        batch.step(batch.greedy())
    boards = batch.observe().board
    for i, position in enumerate(positions(batch)):
        moves = position.legal_moves()
        free = sorted({move.at[0] for move in moves}, key=lambda at: [m.at[0] for m in moves].index(at))
        assert names(batch, batch.observe().vector[i])["free"] == len(free)
        assert not boards[i, len(free) :].any()
        tiles = {laid.at[0]: laid.letters for laid in position.content().tiles}
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
    batch = made("rota", players, {}, games=games, reward=reward)
    paid = 0
    for _ in range(60):
        step = batch.step(batch.sample() if INTERPRETED else batch.greedy())
        assert (step.rewards[~step.ended] == 0).all()
        for i in np.flatnonzero(step.ended):
            paid += 1
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
    assert paid >= games
    assert not batch.over.any()


def test_threads_and_company_change_nothing() -> None:
    alone, together = (
        made("axio", 2, {}, games=3),
        made("axio", 2, {}, games=7 if INTERPRETED else 50, threads=3),
    )
    for _ in range(4 if INTERPRETED else 60):
        first, second = alone.step(alone.sample()), together.step(together.sample())
        assert alone.states.tobytes() == together.states[:3].tobytes()
        assert (first.rewards == second.rewards[:3]).all()
    together.close()
    other = made("axio", 2, {}, games=3, seed=6)
    assert other.states.tobytes() != made("axio", 2, {}, games=3).states.tobytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_step_and_a_look_in_one_go(threads: int) -> None:
    games = 5 if INTERPRETED else 20
    apart, at_once = made("axio", 2, {}, games=games), made("axio", 2, {}, games=games, threads=threads)
    numbers, chosen = apart.sample().copy(), at_once.sample()
    for _ in range(3 if INTERPRETED else 40):
        assert numbers.tolist() == chosen.tolist()
        step = apart.step(numbers)
        looked = at_once.step_and_look(chosen, sample=True)
        seen, numbers, chosen = apart.observe(), apart.sample().copy(), looked.sampled
        pairs = [*zip(step, looked.step, strict=True), *zip(seen, looked.seen, strict=True)]
        for one, other in (*pairs, (apart.masks(), looked.masks)):
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes()
    again = at_once.step_and_look(chosen)
    assert again.sampled.tobytes() == numbers.tobytes()  # not asked for: as it was
    before = at_once.states.tobytes()
    with pytest.raises(InvalidBatchInput, match="no legal move in game"):
        at_once.step_and_look(np.full(games, at_once.numbers - 1))
    assert at_once.states.tobytes() == before
    at_once.close()


def test_a_hand_is_offered_to_be_exchanged() -> None:
    batch = made("axio", 2, {}, games=2)
    batch.states["phase"][1] = OFFER
    first = batch.variant.placements
    assert batch.counts()[1] == 2
    assert np.flatnonzero(batch.masks()[1]).tolist() == [first, first + 1]
    for rank in range(2):
        assert batch.nth(np.full(2, rank))[1] == first + rank
    assert batch.greedy()[1] == first


def test_a_cell_that_has_lost_its_pyramid_is_shown() -> None:
    batch = made("axio", 2, {}, games=1)
    batch.states["cells"][0, 7] = SPENT
    layout = batch.observation.board
    lit = [name for name, plane in zip(layout.names, batch.observe().board[0], strict=True) if plane.flat[7]]
    assert lit == ["spent"]


@pytest.mark.parametrize("tiles_left", [0, 30])
def test_who_cannot_place_exchanges_or_passes(tiles_left: int) -> None:
    batch = made("trio", 2, {}, games=1)
    batch.states["slot"] = COVERED
    batch.states["in_bag"] = tiles_left
    state = copied(batch.states)
    numbers = batch.variant.legal_actions(state).tolist()
    assert batch.variant.decode(state, numbers[0]).kind == ("exchange" if tiles_left else "pass")
    assert np.flatnonzero(batch.masks()[0]).tolist() == numbers
    assert batch.counts().tolist() == [len(numbers)]
    assert [int(batch.nth(np.array([rank]))[0]) for rank in range(len(numbers))] == numbers
    assert int(batch.greedy()[0]) in numbers
    batch.states["phase"] = OVER
    assert not batch.masks().any()


def test_games_that_are_over_take_no_part() -> None:
    batch = made("rota", 1, {}, games=2, auto_reset=False)
    moves, rated = batch.play_greedily()
    assert rated > moves > 10
    assert batch.over.all()
    before = batch.states.tobytes()
    for numbers in (batch.sample(), batch.greedy(), batch.nth(np.array([3, 4]))):
        assert numbers.tolist() == [0, 0]
        step = batch.step(numbers)
        assert step.ended.all()
        assert not step.rewards.any()
    assert not batch.counts().any()
    assert not batch.masks().any()
    assert batch.observe().vector[:, batch.observation.names.index("phase.over")].all()
    assert batch.states.tobytes() == before


def test_some_games_start_anew() -> None:
    batch = made("axio", 2, {}, games=4)
    batch.step(batch.sample())
    before = batch.states.copy()
    batch.reset(np.array([True, False, False, True]))
    assert (batch.states["n_free"][[0, 3]] > before["n_free"][[0, 3]]).all()
    assert batch.states[1:3].tobytes() == before[1:3].tobytes()


def test_what_is_wrong_is_refused_and_changes_nothing() -> None:
    batch = made("rota", 2, {}, games=3)
    right = batch.sample().copy()
    before = batch.states.tobytes()
    for wrong in (-1, batch.numbers, batch.numbers - 1, 1 << 40):
        numbers = right.astype(np.int64)
        numbers[1] = wrong
        with pytest.raises(InvalidBatchInput, match="no legal move in game 1 of the batch"):
            batch.step(numbers)
    nonsense: list[Any] = [right[:2], right.astype(float), "moves", None]
    for shape in nonsense:
        with pytest.raises(InvalidBatchInput, match="3 whole numbers"):
            batch.step(shape)
    with pytest.raises(InvalidBatchInput, match="seats are 0 to 1"):
        batch.observe(np.array([0, 2, 0]))
    assert batch.states.tobytes() == before
    assert "rota" in repr(batch)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"games": 0}, "games should be at least 1"),
        ({"games": 2.5}, "games should be a whole number"),
        ({"threads": 0}, "threads should be at least 1"),
        ({"reward": "gold"}, "no reward 'gold'; there are none, win"),
        ({"game": "chess"}, "chess"),
        ({"players": 9}, "9"),
        ({"options": {"huge": True}}, "huge"),
    ],
)
def test_a_batch_that_cannot_be(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(AxioError, match=says):
        Batch(**{"game": "rota", **arguments})


@pytest.mark.parametrize(("games", "says"), [(0, "at least 1, not 0"), (1.5, "a whole number, not 1.5")])
def test_whole_games_that_cannot_be_played(games: Any, says: str) -> None:
    batch = made("rota", 2, {}, games=3)
    before = batch.states.tobytes()
    for play in (batch.play_randomly, batch.play_greedily):
        with pytest.raises(InvalidBatchInput, match=f"games should be {says}"):
            play(games)
    assert batch.states.tobytes() == before
