"""`python -m benchmarks.peers`: counts, and the C program plays our game. Speeds are never asserted."""

from __future__ import annotations

import json
import random
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from axiogames.batch import Batch
from axiogames.envs import pettingzoo
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.xorshift import seed_states
from benchmarks.peers import page, peer_program, peers, plots, research
from benchmarks.peers.equivalence import difference, our_games, shown
from benchmarks.peers.peer_program import Done
from benchmarks.peers.peers import C_PROGRAM, PEERS, LeftOut, PeerFailed, PeerProcess, compiled
from tests.benchmarks.running import assert_refused, run
from tests.demanded import need

pytestmark = pytest.mark.slow

SQUARES, HEXAGONS = GAMES[:2]
EXCHANGE = find_variant(SQUARES, 2).placements
LOW_CAP, FEW_PYRAMIDS = 5, 3


@pytest.fixture(scope="session")
def compiler() -> str:
    return need("cc", next(filter(None, map(shutil.which, peers.COMPILERS)), None))


@pytest.fixture(scope="session")
def binary(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program."""
    return compiled(tmp_path_factory.mktemp("built"))


def no_program(folder: Path) -> Path:
    """In place of compiling it."""
    raise PeerFailed("it is not wanted here")


def working(*lines: str) -> list[str]:
    """The command of a program that says these lines, one for each that it reads after the first."""
    said = f"for line in {lines!r}: print(line, flush=True); input()"
    return [sys.executable, "-c", said]


# ---------------------------------------------------------------- the C program


def test_the_c_program_plays_our_games(binary: Path) -> None:
    assert difference(binary, 300) == ""


def test_the_c_program_knows_what_random_games_seldom_come_to(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lower cap and fewer pyramids: extra placements, wins, and pyramids that move."""
    variant = find_variant(SQUARES, 2)
    tables = variant.constants.copy()
    tables["cap"], tables["pyramids"] = LOW_CAP, FEW_PYRAMIDS
    monkeypatch.setattr(variant, "constants", tables)
    program = compiled(tmp_path, f"-DCAP={LOW_CAP}", f"-DPYRAMIDS={FEW_PYRAMIDS}")
    states = seed_states(7, 0, 200)
    games = our_games(states)
    assert shown(program, states) == games
    seats = [game.points[:5] for game in games] + [game.points[5:] for game in games]
    assert any(min(points) == LOW_CAP for points in seats)  # won at once
    assert max(max(points) for points in seats) == LOW_CAP
    assert any("x" in game.board for game in games)
    assert max(game.board.count("^") for game in games) == FEW_PYRAMIDS
    assert any(EXCHANGE in game.moves for game in games)
    assert any(EXCHANGE + 1 in game.moves for game in games)


def test_a_program_that_plays_something_else_is_not_measured(compiler: str, tmp_path: Path) -> None:
    with pytest.raises(PeerFailed, match="does not play our game: game 0 is another one"):
        peers.built(tmp_path, "-DCAP=3")


def test_what_a_compiler_complains_about_is_told(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.c"
    broken.write_text("int main(void) { return nothing; }", encoding="utf-8")
    monkeypatch.setattr(peers, "SOURCE", broken)
    with pytest.raises(PeerFailed, match=r"(?s)ended with 1: .*nothing"):
        compiled(tmp_path)


def test_the_c_program_counts_the_moves_of_its_games(binary: Path) -> None:
    (first,) = seed_states(3, 0, 1).tolist()
    program = PeerProcess([str(binary), "serve", str(first)])
    try:
        (game,) = shown(binary, np.array([first]))
        assert program.version.startswith("C ")
        assert program.work(1).moves == len(game.moves)
        assert program.work(0).moves == 0
        assert 25 * 100 < program.work(100).moves < 60 * 100
    finally:
        program.close()


# ---------------------------------------------------------------- programs beside ours


def test_a_program_says_what_it_is_and_works() -> None:
    program = PeerProcess(working("thing 1.0", "12 0.5 0.75"))
    try:
        assert program.version == "thing 1.0"
        assert program.work(3) == Done(12, 0.5, 0.75)
    finally:
        program.close()


def test_a_program_that_ends_is_told_with_its_last_words() -> None:
    with pytest.raises(PeerFailed, match="NameError: name 'thing' is not defined"):
        PeerProcess([sys.executable, "-c", "thing"])
    with pytest.raises(PeerFailed, match="ended without a word"):
        PeerProcess([sys.executable, "-c", ""])
    program = PeerProcess(
        [sys.executable, "-c", "print('here', flush=True); input(); raise SystemExit('tired')"]
    )
    with pytest.raises(PeerFailed, match="tired"):
        program.work(1)
    with pytest.raises(PeerFailed, match="tired"):  # nobody reads what it is told now
        program.work(1)
    program.close()


def test_what_is_not_there_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(peers.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    with peers.programs() as (found, left_out):
        assert found == {}
    assert [left.name for left in left_out] == [C_PROGRAM, *(peer.name for peer in PEERS)]
    assert left_out[0] == LeftOut(
        C_PROGRAM, "there is no C compiler", "a C compiler: apt install gcc, or CC=…"
    )
    assert left_out[-1] == LeftOut(PEERS[-1].name, "pgx is not installed", "pip install pgx")


def test_a_peer_that_does_not_start_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = PEERS[0]._replace(name="a thing", program="momaland:chess", module="momaland")
    monkeypatch.setattr(peers, "built", no_program)
    monkeypatch.setattr(peers, "PEERS", (unknown,))
    with peers.programs() as (found, left_out):
        assert found == {}
    assert [(left.name, left.why) for left in left_out[1:]] == [("a thing", "KeyError: 'momaland:chess'")]


def test_games_of_an_environment_are_played_again_to_their_end() -> None:
    env = pettingzoo.raw_env(HEXAGONS, 2)
    actions = peer_program.random_game(env, 5, random.Random(1))
    points = env.infos
    peer_program.same_game(env, 5, actions)
    assert env.agents == []
    assert env.infos == points
    assert peer_program.moves_in(actions) == len(actions) - 2  # both are told that it is over


@pytest.mark.parametrize("make", [peer_program.games_work, peer_program.steps_work])
def test_moves_through_an_environment_are_counted(make: Any) -> None:
    class Counting:
        """An environment that counts the moves it is given."""

        def __init__(self) -> None:
            self.env, self.moves = pettingzoo.raw_env(HEXAGONS, 2), 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.env, name)

        def step(self, action: Any) -> None:
            self.moves += action is not None
            self.env.step(action)

    env = Counting()
    work = make(env)
    before = env.moves
    assert work(3) == env.moves - before > 60


@pytest.mark.parametrize("name", [peer_program.MOMALAND_GAMES, peer_program.MOMALAND_STEPS])
def test_games_of_momaland_are_as_long_as_they_can_be(name: str) -> None:
    moves = peer_program.momaland(name.partition(":")[2])(2)
    assert 2 * 25 < moves <= 2 * 42  # 85 empty cells


def test_the_rules_of_momaland_play_whole_games() -> None:
    assert 2 * 25 < peer_program.momaland_rules("rules")(2) <= 2 * 42


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [(peer_program.OPEN_SPIEL_HEX, 21, 121), (peer_program.OPEN_SPIEL_HAVANNAH, 8, 169)],
)
def test_games_of_openspiel_are_counted_by_those_of_its_bots(name: str, least: int, most: int) -> None:
    moves = peer_program.open_spiel(name.partition(":")[2])(1)
    assert least < moves / peer_program.ROLLOUTS < most


# ---------------------------------------------------------------- what is told


def test_a_ratio_is_the_median_of_rounds() -> None:
    rates = {"a": np.array([2.0, 9.0, 4.0]), "b": np.array([1.0, 3.0, 4.0])}
    found = research.ratio(research.Target("x", "a", "b", 2.0), rates)
    assert (found.times, found.low, found.high, found.met) == (2.0, 1.5, 2.5, True)
    assert research.ratio(research.Target("x", "a", "b", 2.01), rates).met is False
    assert research.ratio(research.Target("x", "a", "b", None), rates).met is None
    missing = research.ratio(research.Target("x", "a", "c", 2.0), rates)
    assert (missing.times, missing.target, missing.met) == (None, 2.0, None)


def test_the_amount_of_work_fits_the_time() -> None:
    assert research.amount_for(lambda amount: Done(amount, 0, 0.002 * amount), 0.1) == 50
    assert research.amount_for(lambda amount: Done(amount, 0, 7.0), 0.1) == 1


def test_a_batch_makes_a_move_in_each_game() -> None:
    batch = Batch(HEXAGONS, 2, 8)
    before = batch.states.tobytes()
    assert research.batch_work(batch)(3) == 24
    assert batch.states.tobytes() != before


def test_work_in_threads_side_by_side_is_added_up() -> None:
    done = list[tuple[str, int]]()

    def work(name: str, amount: int) -> float:
        done.append((name, amount))
        return 10.0 * amount

    with ThreadPoolExecutor(2) as threads:
        both = research.side_by_side([partial(work, "one"), partial(work, "other")], threads)
        assert both(3) == 60
    assert sorted(done) == [("one", 3), ("other", 3)]


@pytest.fixture
def few_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the peers that take long to start."""
    monkeypatch.setattr(peers, "PEERS", tuple(peer for peer in PEERS if peer.module in ("momaland", "pgx")))


@pytest.mark.usefixtures("few_peers")
def test_the_report_as_json(compiler: str) -> None:
    ran = run("peers", "--seconds", "0.01", "--json")
    assert ran.code == 0, ran
    report = json.loads(ran.out)
    assert report["suite"] == "research"
    assert report["games_compared"] == peers.GAMES_COMPARED
    figures = {figure["name"]: figure for figure in report["figures"]}
    assert {*GAMES, C_PROGRAM, peers.MOMALAND, research.ENVIRONMENT, research.BATCH} <= set(figures)
    for figure in figures.values():
        assert 0 < figure["low"] <= figure["moves_per_second"] <= figure["high"]
        assert figure["what"]
        assert figure["of"]
    assert [(ratio["of"], ratio["to"], ratio["target"]) for ratio in report["ratios"]] == [
        (asked.of, asked.to, asked.target) for asked in research.ASKED
    ]
    for ratio in report["ratios"]:
        assert ratio["met"] == (None if ratio["target"] is None else ratio["times"] >= ratio["target"])
    missing = {left["name"] for left in report["left_out"]}
    assert missing.isdisjoint(figures)


def test_the_report_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "built", no_program)
    monkeypatch.setattr(peers, "PEERS", (PEERS[-1]._replace(module="no_such_module", name="a thing"),))
    ran = run("peers", "--seconds", "0.01")
    assert ran.code == 0, ran
    for words in (
        "moves/s",
        research.ENVIRONMENT,
        "not measured",
        "Left out: a thing (no_such_module is not",
    ):
        assert words in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((GAMES[0],), "unexpected extra argument"),
        (("--players", "3"), "No such option"),
        (("--seconds", "0"), "must be above 0 and at most 600, not 0"),
        (("--device", "tpu"), "'tpu' is not one of 'cpu', 'cuda'"),
    ],
)
def test_invalid_options_are_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(run("peers", *arguments), words)


# ---------------------------------------------------------------- docs/explanation/benchmarks.md


def test_the_page_says_what_was_measured() -> None:
    found = page.read()
    on_gpu = page.read_gpu()
    assert page.PAGE.read_text(encoding="utf-8") == page.page(found, on_gpu, page.read_elsewhere())
    for path, plot in page.PLOTS.items():
        assert path.read_text(encoding="utf-8") == plot(found)
    paths = {page.KEPT, page.MANY_CORES, *page.PLOTS}
    if on_gpu:
        assert page.PLOT_OF_GPU.read_text(encoding="utf-8") == plots.tries(on_gpu)
        paths |= {page.KEPT_OF_GPU, page.PLOT_OF_GPU}
    assert set(page.FOLDER.iterdir()) == paths


def test_what_was_measured_is_what_is_measured_now() -> None:
    found = page.read()
    asked = [(ratio.name, ratio.of, ratio.to, ratio.target) for ratio in found.ratios]
    assert asked == [tuple(ratio) for ratio in research.ASKED]
    names = {figure.name for figure in found.figures} | {left.name for left in found.left_out}
    assert {*GAMES, C_PROGRAM, *(peer.name for peer in PEERS), research.ENVIRONMENT, research.BATCH} <= names
    for ratio in found.ratios:
        if ratio.times is not None and ratio.target is not None:
            assert ratio.met == (ratio.times >= ratio.target)


def test_the_page_tells_of_another_machine_what_was_measured_there() -> None:
    found = page.read()
    unknown = msgspec.structs.replace(found.ratios[0], times=None, low=None, high=None, met=None)
    known = msgspec.structs.replace(found.ratios[1], times=7.0, low=6.0, high=8.0)
    elsewhere = msgspec.structs.replace(found, machine="a large one", ratios=(unknown, known))
    before, here, there = page.page(found, None, elsewhere).partition("## Two threads on a machine with many")
    assert before.rstrip() == page.page(found, None).rstrip()
    assert here
    assert "another machine (a large one; " in there
    assert f"| {known.of} | {known.to} | 7 (6 to 8) |" in there
    assert "not measured" not in there


def test_the_page_tells_what_is_missed_and_what_was_left_out() -> None:
    found = page.read()
    missed = msgspec.structs.replace(found.ratios[0], times=7.0, low=6.0, high=8.0, met=False)
    unknown = msgspec.structs.replace(found.ratios[1], times=None, low=None, high=None, met=None)
    left_out = (LeftOut("a thing", "it is not here", "look for it"),)
    told = msgspec.structs.replace(found, ratios=(missed, unknown), left_out=left_out)
    text = page.page(told, None)
    assert f"In this run 1 of 2 are **missed**: {missed.of} to {missed.to}." in text
    assert f"| 7 (6 to 8) | {missed.target:,g}: **missed** |" in text
    assert f"| {unknown.of} | {unknown.to} | not measured | {unknown.target:g} |" in text
    assert "- a thing: it is not here. To get it: `look for it`" in text


def test_a_ratio_that_many_rounds_contradict_is_not_claimed() -> None:
    found = page.read()
    barely = msgspec.structs.replace(found.ratios[0], times=1600.0, low=1400.0, high=1700.0, met=True)
    clearly = msgspec.structs.replace(barely, low=1550.0)
    quiet = msgspec.structs.replace(found, ratios=(barely, clearly), busy=(0.5, 1.2))
    text = page.page(quiet, None)
    assert "(1,400 to 1,700) | 1,500: **not clearly**, a quarter" in text
    assert "(1,550 to 1,700) | 1,500 |" in text


def test_the_page_of_a_busy_machine_claims_less() -> None:
    found = page.read()
    reached = msgspec.structs.replace(found.ratios[0], times=1600.0, low=1550.0, high=1700.0, met=True)
    quiet = msgspec.structs.replace(found, ratios=(reached,), busy=(0.5, 1.2))
    busy = msgspec.structs.replace(quiet, busy=(0.5, 3.0))
    assert "| 1,500 |" in page.page(quiet, None)
    assert "busy with other work" not in page.page(quiet, None)
    assert "| 1,500, reached on a busy machine |" in page.page(busy, None)
    assert "busy with other work" in page.page(busy, None)


@pytest.mark.parametrize(("gained", "free"), [(1.95, True), (1.2, False)])
def test_the_page_says_so_where_the_machine_has_no_second_core(gained: float, free: bool) -> None:
    found = page.read()
    ratios = tuple(
        msgspec.structs.replace(ratio, times=gained) if ratio.of == research.GAMES_OF_TWO else ratio
        for ratio in found.ratios
    )
    told = page.page(msgspec.structs.replace(found, ratios=ratios), None)
    assert ("not as much as two free cores" in told) is not free
