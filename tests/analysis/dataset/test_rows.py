"""The rows of a dataset: what happened, told by what the seat to move knew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiogames import Position
from axiogames.analysis.dataset import facts, points, read, states
from axiogames.analysis.dataset.generate import write
from axiogames.analysis.dataset.rows import play, seen
from axiogames.analysis.dataset.settings import Settings, checked
from axiogames.errors import InvalidOption, InvalidPlayers, UnknownGame
from axiogames.games import GAMES
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.players import player
from axiogames.players.match import play_match
from tests.players.search.positions import VARIANTS, played, redealt


def replayed(settings: Settings, game: int, rows: list[dict[str, Any]]) -> Table:
    """The table of a game, with each row compared with what happens there."""
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
def test_rows_tell_the_game_that_was_played(game: str, players: int) -> None:
    settings = checked(game, ["random", "greedy"], players=players, seed="rows", noise=0.2)
    rows = play(settings, 3)
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
def test_a_row_shows_nothing_that_its_seat_does_not_know(game: str, players: int) -> None:
    for plies in (0, 3, 8):
        table = played(game, players, plies)
        seat = table.turn
        assert seat is not None
        row = plain(seen(table.view(seat), legal=True))
        for seed in range(3):
            other = redealt(table, seat, seed)
            assert plain(seen(other.view(seat), legal=True)) == row
        hands = Position.parse(row["position"])
        assert all(set(hands.hand(hidden)) <= {"?"} for hidden in range(players) if hidden != seat)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "legal": row["legal"].tolist()}


@pytest.mark.parametrize("game", GAMES)
def test_without_noise_a_game_is_the_match_on_its_seed(game: str) -> None:
    settings = checked(game, ["balanced", "random"], seed="match")
    for number in (0, 1):
        rows = play(settings, number)
        bots = [player(bot) for bot in settings.seats(number)]
        assert [row["move"] for row in rows] == [
            str(move) for move in play_match(game, bots, f"match/{number}").moves
        ]
        assert not any(row["lot"] for row in rows)


def test_full_noise_is_nothing_but_lots() -> None:
    bots = [["greedy"], ["balanced"]]
    one, two = (play(checked(GAMES[0], names, noise=1.0), 0) for names in bots)
    assert all(row["lot"] for row in one)
    assert [row["move"] for row in one] == [row["move"] for row in two]
    assert {row["bot"] for row in two} == {"balanced"}


def test_noise_comes_about_as_often_as_asked_for() -> None:
    settings = checked(GAMES[0], ["random"], noise=0.25)
    rng = [row["lot"] for game in range(12) for row in play(settings, game)]
    assert 0.15 < sum(rng) / len(rng) < 0.35


def test_bots_take_turns_in_the_seats() -> None:
    settings = checked(GAMES[0], ["random", "greedy", "balanced"], players=2)
    assert [settings.seats(game) for game in range(4)] == [
        ("random", "greedy"),
        ("greedy", "balanced"),
        ("balanced", "random"),
        ("random", "greedy"),
    ]
    assert checked(GAMES[0], ["random"], players=3).seats(1) == ("random",) * 3


@pytest.mark.parametrize(
    ("bot", "same"),
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
def test_what_is_said_to_come_out_the_same(bot: str, same: bool) -> None:
    assert checked(GAMES[0], ["random", bot]).deterministic is same


def test_counted_thought_gives_the_same_rows_again() -> None:
    settings = checked(GAMES[0], ["sim@40r", "instant"], options=())
    assert play(settings, 0) == play(settings, 0)


# ---------------------------------------------------------------- reading


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dataset") / "games.parquet"
    settings = checked(GAMES[-1], ["random"], players=3, games=3, options=["short"], noise=0.5, legal=True)
    assert write(settings, path) == len(read(path))
    return path


def test_columns_come_back_as_arrays(file: Path) -> None:
    table = read(file)
    settings = facts(table).settings
    rows = [row for game in range(3) for row in play(settings, game)]
    variant = settings.variant
    records = states(table)
    assert records.dtype == variant.opening.dtype
    assert records.dtype.isalignedstruct == variant.opening.dtype.isalignedstruct
    assert [record.tobytes() for record in records] == [row["state"] for row in rows]
    for name, shape in (("scores", (3, 1)), ("final_scores", (3, 1)), ("gain", (1,)), ("places", (3,))):
        column = points(table, name)
        assert column.shape == (len(rows), *shape)
        assert column.tolist() == [np.array(row[name]).tolist() for row in rows]
    for name in ("game", "ply", "seat", "bot", "position", "action", "move", "lot", "place", "won"):
        assert table[name].to_pylist() == [row[name] for row in rows]
    assert table["legal"].to_pylist() == [row["legal"].tolist() for row in rows]


def test_a_state_can_be_asked_what_its_view_could(file: Path) -> None:
    table = read(file)
    variant, records = facts(table).settings.variant, states(table)
    for n in range(0, len(table), 9):
        view = View(variant, records[n : n + 1], table["seat"][n].as_py(), ())
        assert view.position == table["position"][n].as_py()
        assert view.legal_moves().actions.tolist() == table["legal"][n].as_py()
        assert table["action"][n].as_py() in view.legal_moves().actions


def test_parts_of_a_table_come_back_as_well(file: Path) -> None:
    whole = states(read(file))
    part = read(file, ["state", "seat"]).slice(5, 7)
    assert (states(part) == whole[5:12]).all()
    batch = part.to_batches()[0]
    assert (states(batch) == whole[5:12]).all()
    assert facts(batch) == facts(file)


def test_a_file_says_what_it_is(file: Path) -> None:
    said = facts(str(file))
    assert said.format == "axio-dataset/1"
    assert said.settings == checked(
        GAMES[-1], ["random"], players=3, games=3, options=["short"], noise=0.5, legal=True
    )
    assert said.deterministic
    assert said.tracks == said.settings.variant.tracks


def test_legal_moves_are_written_only_if_asked_for(file: Path, tmp_path: Path) -> None:
    write(checked(GAMES[0], ["random"], games=1), tmp_path / "out")
    names = read(tmp_path / "out").column_names
    assert [name for name in read(file).column_names if name != "legal"] == names


# ---------------------------------------------------------------- settings that cannot be played


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
def test_settings_that_cannot_be_played(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        checked(**{"game": GAMES[0], "bots": ["random"], **change})
