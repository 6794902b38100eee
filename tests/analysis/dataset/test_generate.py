"""The rows of a dataset: whole games, from the view of the seat to move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiogames import Position
from axiogames.analysis.dataset import column_array, metadata, read, states
from axiogames.analysis.dataset.generate import game_rows, observation_columns, write_dataset
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.errors import InvalidOption, InvalidPlayers, UnknownGame
from axiogames.games import GAMES
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.players import player
from axiogames.players.match import play_match
from tests.players.search.positions import VARIANTS, played, redealt


def replayed(settings: DatasetSettings, game: int, rows: list[dict[str, Any]]) -> Table:
    """Replay a game, compare each row with the table, and return the table."""
    table = Table(settings.variant, f"{settings.seed}/{game}")
    for ply, row in enumerate(rows):
        view = table.view(table.turn)
        assert (row["game"], row["ply"], row["seat"]) == (game, ply, table.turn)
        assert row["bot"] == settings.seats(game)[row["seat"]]
        assert row["position"] == view.position
        assert row["state"] == view.state.tobytes()
        assert row["scores"] == [list(seat.values()) for seat in table.scores]
        assert row["legal_count"] == len(view.legal_moves())
        assert row["action"] == view.action_of(row["move"])
        gain = table.play(row["move"])
        assert dict(zip(table.variant.tracks, row["gain"], strict=True)) == {
            track: gain.get(track, 0) for track in table.variant.tracks
        }
    return table


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_rows_reproduce_the_game(game: str, players: int) -> None:
    settings = DatasetSettings.create(game, ["random", "greedy"], players=players, seed="rows", noise=0.2)
    rows = game_rows(settings, 3)
    table = replayed(settings, 3, rows)
    assert table.over
    assert table.result is not None
    assert any(row["lot"] for row in rows)
    assert not all(row["lot"] for row in rows)
    for row in rows:
        assert row["final_scores"] == [list(seat.values()) for seat in table.scores]
        assert tuple(row["places"]) == table.result.place
        assert row["place"] == table.result.place[row["seat"]]
        assert row["won"] == (row["seat"] in table.result.winners)


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_rows_do_not_depend_on_hidden_tiles(game: str, players: int) -> None:
    for plies in (0, 3, 8):
        table = played(game, players, plies)
        seat = table.turn
        assert seat is not None
        row = plain(observation_columns(table.view(seat), legal=True))
        for seed in range(3):
            changed = redealt(table, seat, seed)
            assert plain(observation_columns(changed.view(seat), legal=True)) == row
        hands = Position.parse(row["position"])
        assert all(set(hands.hand(hidden)) <= {"?"} for hidden in range(players) if hidden != seat)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without arrays, so that rows can be compared."""
    return {**row, "legal": row["legal"].tolist()}


@pytest.mark.parametrize("game", GAMES)
def test_games_without_noise_equal_the_match_with_their_seed(game: str) -> None:
    settings = DatasetSettings.create(game, ["balanced", "random"], seed="match")
    for index in (0, 1):
        rows = game_rows(settings, index)
        bots = [player(bot) for bot in settings.seats(index)]
        assert [row["move"] for row in rows] == [
            str(move) for move in play_match(game, bots, f"match/{index}").moves
        ]
        assert not any(row["lot"] for row in rows)


def test_full_noise_makes_all_moves_random() -> None:
    bots = [["greedy"], ["balanced"]]
    first, second = (game_rows(DatasetSettings.create(GAMES[0], names, noise=1.0), 0) for names in bots)
    assert all(row["lot"] for row in first)
    assert [row["move"] for row in first] == [row["move"] for row in second]
    assert {row["bot"] for row in second} == {"balanced"}


def test_rate_of_noise_is_as_configured() -> None:
    settings = DatasetSettings.create(GAMES[0], ["random"], noise=0.25)
    random_moves = [row["lot"] for game in range(12) for row in game_rows(settings, game)]
    assert 0.15 < sum(random_moves) / len(random_moves) < 0.35


def test_bots_rotate_through_the_seats() -> None:
    settings = DatasetSettings.create(GAMES[0], ["random", "greedy", "balanced"], players=2)
    assert [settings.seats(game) for game in range(4)] == [
        ("random", "greedy"),
        ("greedy", "balanced"),
        ("balanced", "random"),
        ("random", "greedy"),
    ]
    assert DatasetSettings.create(GAMES[0], ["random"], players=3).seats(1) == ("random",) * 3


@pytest.mark.parametrize(
    ("bot", "deterministic"),
    [
        ("random", True),
        ("balanced", True),
        ("balanced@1s", True),
        ("instant", True),
        ("level3", True),
        ("level6", True),
        ("level7", True),
        ("level7@1s", False),
        ("level8", False),
        ("level8@100r", True),
        ("sim", False),
        ("sim@100ms", False),
        ("sim@100r", True),
        ("mc", False),
        ("mc@100r", True),
        ("engine:./some", False),
    ],
)
def test_deterministic_settings(bot: str, deterministic: bool) -> None:
    assert DatasetSettings.create(GAMES[0], ["random", bot]).deterministic is deterministic


def test_bots_limited_by_rollouts_repeat_their_rows() -> None:
    settings = DatasetSettings.create(GAMES[0], ["sim@40r", "instant"], options=())
    assert game_rows(settings, 0) == game_rows(settings, 0)


# ---------------------------------------------------------------- reading


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dataset") / "games.parquet"
    settings = DatasetSettings.create(
        GAMES[-1], ["random"], players=3, games=3, options=["short"], noise=0.5, legal=True
    )
    assert write_dataset(settings, path) == len(read(path))
    return path


def test_columns_are_read_as_arrays(file: Path) -> None:
    table = read(file)
    settings = metadata(table).settings
    rows = [row for game in range(3) for row in game_rows(settings, game)]
    variant = settings.variant
    records = states(table)
    assert records.dtype == variant.opening.dtype
    assert records.dtype.isalignedstruct == variant.opening.dtype.isalignedstruct
    assert [record.tobytes() for record in records] == [row["state"] for row in rows]
    for name, shape in (("scores", (3, 1)), ("final_scores", (3, 1)), ("gain", (1,)), ("places", (3,))):
        column = column_array(table, name)
        assert column.shape == (len(rows), *shape)
        assert column.tolist() == [np.array(row[name]).tolist() for row in rows]
    for name in ("game", "ply", "seat", "bot", "position", "action", "move", "lot", "place", "won"):
        assert table[name].to_pylist() == [row[name] for row in rows]
    assert table["legal"].to_pylist() == [row["legal"].tolist() for row in rows]


def test_views_are_restored_from_states(file: Path) -> None:
    table = read(file)
    variant, records = metadata(table).settings.variant, states(table)
    for n in range(0, len(table), 9):
        view = View(variant, records[n : n + 1], table["seat"][n].as_py(), ())
        assert view.position == table["position"][n].as_py()
        assert view.legal_moves().actions.tolist() == table["legal"][n].as_py()
        assert table["action"][n].as_py() in view.legal_moves().actions


def test_slices_and_batches_are_read(file: Path) -> None:
    whole = states(read(file))
    part = read(file, ["state", "seat"]).slice(5, 7)
    assert (states(part) == whole[5:12]).all()
    batch = part.to_batches()[0]
    assert (states(batch) == whole[5:12]).all()
    assert metadata(batch) == metadata(file)


def test_metadata_describes_the_file(file: Path) -> None:
    found = metadata(str(file))
    assert found.format == "axio-dataset/2"
    assert found.settings == DatasetSettings.create(
        GAMES[-1], ["random"], players=3, games=3, options=["short"], noise=0.5, legal=True
    )
    assert found.deterministic
    assert found.tracks == found.settings.variant.tracks


def test_legal_actions_are_written_only_on_request(file: Path, tmp_path: Path) -> None:
    write_dataset(DatasetSettings.create(GAMES[0], ["random"], games=1), tmp_path / "out")
    names = read(tmp_path / "out").column_names
    assert [name for name in read(file).column_names if name != "legal"] == names


# ---------------------------------------------------------------- invalid settings


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"game": "chess"}, UnknownGame),
        ({"bots": []}, InvalidPlayers),
        ({"bots": ["deepblue"]}, InvalidPlayers),
        ({"bots": ["sim@soon"]}, InvalidPlayers),
        ({"players": 5}, InvalidPlayers),
        ({"options": ["blind"]}, InvalidOption),
        ({"games": 0}, InvalidOption),
        ({"noise": 1.5}, InvalidOption),
        ({"noise": -0.1}, InvalidOption),
        ({"noise": float("nan")}, InvalidOption),
    ],
)
def test_invalid_settings_are_rejected(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        DatasetSettings.create(**{"game": GAMES[0], "bots": ["random"], **change})
