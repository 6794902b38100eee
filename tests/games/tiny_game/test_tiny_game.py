"""A registered game with only the four required rules works everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import axiogames as axio
from axiogames.batch import Batch
from axiogames.cli import program
from axiogames.envs.single import SingleGame
from axiogames.errors import AxioError, GameDefinitionError, UnknownGame
from axiogames.games import (
    GAMES,
    find_variant,
    game,
    localization,
    register_game,
    rules_page,
    unregister_game,
)
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.model.record import Record, record_of, replay
from axiogames.model.testing import check_game
from axiogames.model.view_format import decode_view, encode_view
from axiogames.moves import Move
from axiogames.parallel import map_unordered
from axiogames.players import player
from axiogames.players.match import play_match
from axiogames.web.variant_data import variant_data
from tests.games.numbers import described, move_of, previewed

PACKAGE = "examples.tiny_game"


@pytest.fixture(autouse=True)
def tiny() -> Iterator[str]:
    """Register the game for one test."""
    yield register_game(PACKAGE).id
    unregister_game("tiny")


def test_registered_game_is_known_until_it_is_removed(tiny: str) -> None:
    assert GAMES[-1] == tiny
    assert register_game(PACKAGE) is game(tiny)  # again: no error
    assert localization(tiny, "de").summary == game(tiny).summary
    assert rules_page(tiny).startswith("# Tiny dominoes")
    unregister_game(tiny)
    with pytest.raises(UnknownGame, match=r"choose one of axio, hex, rota, trio$"):
        find_variant(tiny)


def test_page_gets_its_moves_and_points(tiny: str) -> None:
    table = axio.new_game(tiny, players=2, seed=1)
    variant = table.variant
    assert variant_data(variant).rows.action_columns == 8
    for _ in range(6):
        moves = table.legal_moves()
        rows = described(variant, table.state, moves.actions)
        assert [move_of(variant, table.state, row) for row in rows] == list(moves)
        best = int(moves.actions[table.gains(moves).sum(axis=1).argmax()])
        points, after = previewed(variant, table.state, best)
        gain = after["gain"][0].tolist()
        assert [(point.track, point.points) for point in points] == [
            (track, n) for track, n in zip(variant.tracks, gain, strict=True) if n
        ]
        assert {(point.cell, point.target) for point in points} <= {("", "")}
        view = table.view(0).state
        assert decode_view(variant, encode_view(variant, view)).tobytes() == view.tobytes()
        table.play_action(best)
    # An action that is not a placement passes, unless the game says otherwise.
    (row,) = described(variant, table.state, np.array([variant.placements], np.int32))
    assert move_of(variant, table.state, row) == Move("pass")


def test_workers_know_the_game_until_it_is_removed(tiny: str) -> None:
    assert list(map_unordered(title_of, [tiny], 2)) == ["Tiny dominoes"]
    unregister_game(tiny)
    with pytest.raises(AxioError, match="unknown game 'tiny'"):
        list(map_unordered(title_of, [tiny], 2))


def title_of(name: str) -> str:
    return game(name).name


def test_package_without_a_game_is_refused() -> None:
    with pytest.raises(GameDefinitionError, match=r"declare `GAME = Game\(\.\.\., package='json'\)`"):
        register_game("json")


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_conformance(tiny: str, players: int) -> None:
    assert check_game(tiny, players, games=1 if INTERPRETED else 3) > 5


def test_counter_of_the_deal_must_be_declared(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(find_variant(tiny)), "counters", ())
    with pytest.raises(GameDefinitionError, match=r"tiny: `Variant\.counters` lacks `dealing`"):
        check_game(tiny)


def test_too_many_tiles_are_refused(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    crowded = SimpleNamespace(tileset={"RR": 100, "RG": 28})
    monkeypatch.setattr("examples.tiny_game.variant.make", lambda *_: crowded)
    with pytest.raises(
        GameDefinitionError, match="tiny for 4 players has 128 tiles, but at most 127 are allowed"
    ):
        find_variant(tiny, 4)


def test_points_are_counted_beside_the_tile(tiny: str) -> None:
    table = axio.new_game(tiny, 2, seed=1)
    while not table.over:
        move = table.legal_moves()[0]
        shown = table.variant.shown_at(table.state)
        points = dict.fromkeys("RG", 0)
        for letter, cell, other in zip(move.tile, move.at, move.at[::-1], strict=True):
            column, row = ord(cell[0]), int(cell[1])
            near = {f"{chr(column + dx)}{row + dy}" for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
            points[letter] += sum(shown.get(name) == letter for name in near - {other})
        gained = table.play(move)
        assert {track: gained.get(track, 0) for track in "RG"} == points


@pytest.mark.parametrize("bots", [("random", "greedy"), ("balanced", "instant"), ("sim", "mc")])
def test_bots_play_and_games_are_recorded(tiny: str, bots: tuple[str, str]) -> None:
    if INTERPRETED and "sim" in bots:
        pytest.skip("searches are slow with interpreted rules")
    table = play_match(tiny, [player(bot) for bot in bots], 3)
    assert table.over
    again = replay(Record.parse(record_of(table).to_json()))
    assert again.state.tobytes() == table.state.tobytes()
    assert axio.Position.parse(table.position) == axio.Position.parse(again.position)


def test_board_is_drawn(tiny: str) -> None:
    table = axio.new_game(tiny, 2, seed=1)
    table.play(table.legal_moves()[0])
    assert table.view(0).svg().startswith("<svg")


def test_environment_and_batch_play_the_same_game(tiny: str) -> None:
    single, batch = SingleGame(tiny, 2, reward="win"), Batch(tiny, 2, games=1, seed=5, auto_reset=False)
    single.reset(5)
    while not batch.over[0]:
        legal = np.flatnonzero(batch.masks()[0])
        assert single.observe()["action_mask"].tolist() == batch.masks()[0].tolist()
        batch.step(legal[:1])
        single.step(int(legal[0]))
    assert single.points.tolist() == batch.scores[0].tolist()


def test_commands_know_the_game(tiny: str, tmp_path: Path) -> None:
    run = CliRunner().invoke(program, ["games"])
    assert run.exit_code == 0, run.output
    assert "Tiny dominoes" in run.output
    run = CliRunner().invoke(program, ["rules", tiny])
    assert run.exit_code == 0, run.output
