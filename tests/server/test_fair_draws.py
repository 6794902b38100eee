"""Fair draws: the seed is committed to before the first draw, secret during play, and verified afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from axiogames.cli import main
from axiogames.games import GAMES
from tests.server.driving import Client, Guest, Json, RunningServer, random_chooser


def verify(record: Json, folder: Path) -> tuple[int, str]:
    """Return the exit code and the output of `axio verify` for a record."""
    file = folder / "game.jsonl"
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = main(["verify", str(file)])
    return code, out.getvalue()


def play(guest: Guest, game: str) -> tuple[str, str, list[str]]:
    """Play a whole game.

    Returns:
        The id of the table, the first commitment, and all messages sent before the end.
    """
    table = guest.open(game, ["me", "greedy"])
    messages: list[str] = []
    with guest.live(table.id) as live, Client(guest.url).live(table.id) as spectator:
        commitment = live.recv()["table"]["commitment"]
        live.play(0, hold=True)
        live.command("back")
        live.until("view")
        messages += [
            json.dumps(guest.view(table.id)),
            guest.request("GET", f"/api/tables/{table.id}/picture.svg").text,
        ]
        live.play_to_end(random_chooser(game))
        while spectator.n < live.n:
            spectator.recv()
        messages += [json.dumps(message) for message in (*live.received, *spectator.received)]
    return table.id, commitment, messages


@pytest.mark.parametrize("game", GAMES)
def test_seed_matches_the_commitment_and_is_secret_until_the_end(
    sqlite_server: RunningServer, game: str, tmp_path: Path
) -> None:
    ann = sqlite_server.guest()
    table, commitment, messages = play(ann, game)
    record = ann.get(f"/api/tables/{table}/record")
    assert record["commitment"] == commitment == hashlib.sha256(record["seed"].encode()).hexdigest()
    assert len(record["seed"]) >= 32
    assert not [text for text in messages if record["seed"] in text]
    assert any(commitment in text for text in messages)
    code, output = verify(record, tmp_path)
    assert code == 0, output
    assert "1 passed" in output
    assert Client(sqlite_server.url).get(f"/api/tables/{table}/record") == record  # anybody can check


@pytest.fixture(scope="session")
def record(servers: Callable[[str], RunningServer]) -> Json:
    """Return the record of a finished game."""
    ann = servers("sqlite").guest()
    table, _, _ = play(ann, "axio")
    found: Json = ann.get(f"/api/tables/{table}/record")
    return found


def changed(record: Json, **parts: Any) -> Json:
    return {**json.loads(json.dumps(record)), **parts}


def test_another_seed_is_detected(record: Json, tmp_path: Path) -> None:
    code, output = verify(changed(record, seed="0" * 64), tmp_path)
    assert code == 1
    assert "SHA-256" in output


def test_another_commitment_is_detected(record: Json, tmp_path: Path) -> None:
    code, output = verify(changed(record, commitment="0" * 64), tmp_path)
    assert code == 1
    assert "SHA-256" in output


def test_another_seed_with_its_own_commitment_is_detected(record: Json, tmp_path: Path) -> None:
    seed = "ab" * 32
    other = changed(record, seed=seed, commitment=hashlib.sha256(seed.encode()).hexdigest())
    code, output = verify(other, tmp_path)
    assert code == 1
    assert "the seed does not lead to the tiles drawn" in output


def test_draws_in_another_order_are_detected(record: Json, tmp_path: Path) -> None:
    """Another order of the tiles of the first hand changes nothing else in the game."""
    other = changed(record)
    tiles = other["events"][0]["tiles"]
    assert tiles != tiles[::-1]
    tiles.reverse()
    code, output = verify(other, tmp_path)
    assert code == 1
    assert "the seed does not lead to the tiles drawn" in output


def test_tile_that_was_not_drawn_is_detected(record: Json, tmp_path: Path) -> None:
    other = changed(record)
    tiles = other["events"][0]["tiles"]
    tiles[0] = next(tile for tile in other["setup"]["tileset"] if tile != tiles[0])
    assert verify(other, tmp_path)[0] == 1


def test_every_table_has_its_own_seed(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    commitments = {ann.view(ann.open("axio", ["me", "open"]).id)["table"]["commitment"] for _ in range(10)}
    assert len(commitments) == 10


def test_take_back_does_not_change_the_draws(sqlite_server: RunningServer, tmp_path: Path) -> None:
    """A player cannot retry for a better tile: the seed and the number of draws determine each draw."""
    ann = sqlite_server.guest()
    table, _, _ = play(ann, "axio")  # the game contains a take-back
    code, output = verify(ann.get(f"/api/tables/{table}/record"), tmp_path)
    assert code == 0, output
    replay = ann.get(f"/api/tables/{table}/replay")
    assert all(step["type"] == "step" for step in replay["steps"])


def test_seed_of_an_unfinished_game_is_never_sent(server: RunningServer) -> None:
    ann = server.guest()
    table = ann.open("axio", ["me", "greedy"])
    for path in ("record", "replay"):
        refused = ann.refused("GET", f"/api/tables/{table.id}/{path}")
        assert (refused.status, refused.code) == (409, "not_yet")
