"""Records of the simple bots stay the same, byte for byte, for the same seed."""

from __future__ import annotations

import hashlib
from itertools import cycle, islice

import pytest

from axiogames.cli.commands.simulate import GameRange, play_games
from axiogames.games.runtime.compile import INTERPRETED

BOTS = ("random", "greedy", "balanced")
GAMES_PER_SEATING = 4
# SHA-256, shortened, of 12 games, by game, number of players and options; from version 0.2.0.
DIGESTS = {
    "axio 1": "8bfdac36c6488bff",
    "axio 2": "677ffbd0b05ef721",
    "axio 3": "b0cc7e558670dcbb",
    "axio 4": "455e3590ed27a8d4",
    "hex 1": "43319a006e0c4c41",
    "hex 2": "610ce638a3ba4e9c",
    "hex 3": "0a5ce1d5fd91370b",
    "hex 4": "dda6b3fc0de00179",
    "rota 1": "2986a646324adb4e",
    "rota 2": "830081de431e03b2",
    "rota 3": "cd57b8d2e6fdcdc6",
    "rota 4": "7e2d0c4e31f4e282",
    "trio 1": "82226d4babed13ee",
    "trio 2": "7f8ecb8362cd79c0",
    "trio 3": "69cea26739479695",
    "trio 4": "21c371f033245a9e",
    "trio 1 children": "4ab82671771c7e38",
    "trio 2 children": "aedfa357cd038b3f",
    "trio 4 children": "8e195df8a4cefa25",
    "trio 1 short": "61c3c2d5772bb09a",
    "trio 2 short": "89ce5ac51e5579d6",
    "trio 4 short": "a3763efcd6c06cab",
    "trio 1 children short": "a05cbbe1615039ed",
    "trio 2 children short": "afe85cf96826f2e4",
    "trio 4 children short": "c176f657db26bdc5",
}


@pytest.mark.skipif(INTERPRETED, reason="whole games take minutes")
@pytest.mark.parametrize("case", DIGESTS)
def test_records_of_simple_bots_have_not_changed(case: str) -> None:
    game, players, *options = case.split()
    lines = []
    for first in range(len(BOTS)):
        bots = tuple(islice(cycle(BOTS), first, first + int(players)))
        start = GAMES_PER_SEATING * first
        games = GameRange(game, bots, tuple(options), "golden", start, start + GAMES_PER_SEATING)
        lines += [simulated.line for simulated in play_games(games)]
    text = "".join(f"{line}\n" for line in lines)
    assert hashlib.sha256(text.encode()).hexdigest().startswith(DIGESTS[case])
