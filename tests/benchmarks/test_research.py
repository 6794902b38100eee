"""`python -m benchmarks.peers`: counts, and the games of the C program. No test asserts a speed."""

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
from benchmarks.peers.equivalence import difference, our_games, program_games
from benchmarks.peers.peer_program import Measurement
from benchmarks.peers.peers import C_PROGRAM, PEERS, PeerFailed, PeerProcess, SkippedPeer, build
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
    return build(tmp_path_factory.mktemp("build"))


def fail_to_build(folder: Path) -> Path:
    """Fail instead of compiling the C program."""
    raise PeerFailed("not built in this test")


def fake_peer(*lines: str) -> list[str]:
    """Return the command of a program that prints the first line, and the next one for each line it reads."""
    return [sys.executable, "-c", f"for line in {lines!r}: print(line, flush=True); input()"]


# ---------------------------------------------------------------- the C program


def test_the_c_program_plays_our_games(binary: Path) -> None:
    assert difference(binary, 300) == ""


def test_the_c_program_plays_situations_that_are_rare_in_random_games(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lower cap and fewer pyramids cause extra placements, wins by the cap, and pyramids that move."""
    variant = find_variant(SQUARES, 2)
    constants = variant.constants.copy()
    constants["cap"], constants["pyramids"] = LOW_CAP, FEW_PYRAMIDS
    monkeypatch.setattr(variant, "constants", constants)
    program = build(tmp_path, f"-DCAP={LOW_CAP}", f"-DPYRAMIDS={FEW_PYRAMIDS}")
    states = seed_states(7, 0, 200)
    games = our_games(states)
    assert program_games(program, states) == games
    seats = [game.points[:5] for game in games] + [game.points[5:] for game in games]
    assert any(min(points) == LOW_CAP for points in seats)  # won at once
    assert max(max(points) for points in seats) == LOW_CAP
    assert any("x" in game.board for game in games)
    assert max(game.board.count("^") for game in games) == FEW_PYRAMIDS
    assert any(EXCHANGE in game.moves for game in games)
    assert any(EXCHANGE + 1 in game.moves for game in games)


def test_a_program_that_plays_other_games_is_not_measured(compiler: str, tmp_path: Path) -> None:
    with pytest.raises(PeerFailed, match="does not play the same games as our rules: game 0 differs"):
        peers.build_checked(tmp_path, "-DCAP=3")


def test_compiler_errors_are_reported(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.c"
    broken.write_text("int main(void) { return nothing; }", encoding="utf-8")
    monkeypatch.setattr(peers, "SOURCE", broken)
    with pytest.raises(PeerFailed, match=r"(?s)exited with 1: .*nothing"):
        build(tmp_path)


def test_the_c_program_counts_the_moves_of_its_games(binary: Path) -> None:
    (first,) = seed_states(3, 0, 1).tolist()
    program = PeerProcess([str(binary), "serve", str(first)])
    try:
        (game,) = program_games(binary, np.array([first]))
        assert program.version.startswith("C ")
        assert program.work(1).moves == len(game.moves)
        assert program.work(0).moves == 0
        assert 25 * 100 < program.work(100).moves < 60 * 100
    finally:
        program.close()


# ---------------------------------------------------------------- peers


def test_a_peer_reports_its_version_and_its_measurements() -> None:
    program = PeerProcess(fake_peer("thing 1.0", "12 0.5 0.75"))
    try:
        assert program.version == "thing 1.0"
        assert program.work(3) == Measurement(12, 0.5, 0.75)
    finally:
        program.close()


def test_exit_of_a_peer_is_reported_with_its_last_line() -> None:
    with pytest.raises(PeerFailed, match="NameError: name 'thing' is not defined"):
        PeerProcess([sys.executable, "-c", "thing"])
    with pytest.raises(PeerFailed, match="exited without a message"):
        PeerProcess([sys.executable, "-c", ""])
    program = PeerProcess(
        [sys.executable, "-c", "print('here', flush=True); input(); raise SystemExit('tired')"]
    )
    with pytest.raises(PeerFailed, match="tired"):
        program.work(1)
    with pytest.raises(PeerFailed, match="tired"):  # its standard input is closed now
        program.work(1)
    program.close()


def test_missing_peers_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(peers.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    with peers.programs() as (found, skipped):
        assert found == {}
    assert [peer.name for peer in skipped] == [C_PROGRAM, *(peer.name for peer in PEERS)]
    assert skipped[0] == SkippedPeer(
        C_PROGRAM, "no C compiler found", "a C compiler: apt install gcc, or CC=…"
    )
    assert skipped[-1] == SkippedPeer(PEERS[-1].name, "pgx is not installed", "pip install pgx")


def test_a_peer_that_does_not_start_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = PEERS[0]._replace(name="a thing", program="momaland:chess", module="momaland")
    monkeypatch.setattr(peers, "build_checked", fail_to_build)
    monkeypatch.setattr(peers, "PEERS", (unknown,))
    with peers.programs() as (found, skipped):
        assert found == {}
    assert [(peer.name, peer.reason) for peer in skipped[1:]] == [("a thing", "KeyError: 'momaland:chess'")]


def test_games_of_an_environment_are_replayed_to_their_end() -> None:
    env = pettingzoo.raw_env(HEXAGONS, 2)
    actions = peer_program.random_game(env, 5, random.Random(1))
    infos = env.infos
    peer_program.replay_game(env, 5, actions)
    assert env.agents == []
    assert env.infos == infos
    assert peer_program.moves_in(actions) == len(actions) - 2  # the last action of each agent is None


@pytest.mark.parametrize("make", [peer_program.games_work, peer_program.steps_work])
def test_moves_through_an_environment_are_counted(make: Any) -> None:
    class Counting:
        """An environment that counts its moves."""

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
def test_games_of_momaland_have_plausible_lengths(name: str) -> None:
    moves = peer_program.momaland(name.partition(":")[2])(2)
    assert 2 * 25 < moves <= 2 * 42  # 85 empty cells


def test_the_rules_of_momaland_play_whole_games() -> None:
    assert 2 * 25 < peer_program.momaland_rules("rules")(2) <= 2 * 42


@pytest.mark.parametrize(
    ("name", "minimum", "maximum"),
    [(peer_program.OPEN_SPIEL_HEX, 21, 121), (peer_program.OPEN_SPIEL_HAVANNAH, 8, 169)],
)
def test_games_of_openspiel_have_plausible_lengths(name: str, minimum: int, maximum: int) -> None:
    moves = peer_program.open_spiel(name.partition(":")[2])(1)
    assert minimum < moves / peer_program.ROLLOUTS < maximum


# ---------------------------------------------------------------- the report


def test_a_ratio_is_the_median_of_rounds() -> None:
    rates = {"a": np.array([2.0, 9.0, 4.0]), "b": np.array([1.0, 3.0, 4.0])}
    found = research.ratio(research.Target("x", "a", "b", 2.0), rates)
    assert (found.value, found.low, found.high, found.met) == (2.0, 1.5, 2.5, True)
    assert research.ratio(research.Target("x", "a", "b", 2.01), rates).met is False
    assert research.ratio(research.Target("x", "a", "b", None), rates).met is None
    missing = research.ratio(research.Target("x", "a", "c", 2.0), rates)
    assert (missing.value, missing.target, missing.met) == (None, 2.0, None)


def test_the_amount_of_work_fits_the_time() -> None:
    assert research.amount_for(lambda amount: Measurement(amount, 0, 0.002 * amount), 0.1) == 50
    assert research.amount_for(lambda amount: Measurement(amount, 0, 7.0), 0.1) == 1


def test_a_batch_makes_a_move_in_each_game() -> None:
    batch = Batch(HEXAGONS, 2, 8)
    before = batch.states.tobytes()
    assert research.batch_work(batch)(3) == 24
    assert batch.states.tobytes() != before


def test_work_of_concurrent_threads_is_added_up() -> None:
    done = list[tuple[str, int]]()

    def work(name: str, amount: int) -> float:
        done.append((name, amount))
        return 10.0 * amount

    with ThreadPoolExecutor(2) as threads:
        both = research.concurrent_work([partial(work, "one"), partial(work, "other")], threads)
        assert both(3) == 60
    assert sorted(done) == [("one", 3), ("other", 3)]


@pytest.fixture
def few_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the peers that start quickly."""
    monkeypatch.setattr(peers, "PEERS", tuple(peer for peer in PEERS if peer.module in ("momaland", "pgx")))


@pytest.mark.usefixtures("few_peers")
def test_report_is_printed_as_json(compiler: str) -> None:
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
        (target.numerator, target.denominator, target.target) for target in research.TARGETS
    ]
    for ratio in report["ratios"]:
        assert ratio["met"] == (None if ratio["target"] is None else ratio["times"] >= ratio["target"])
    skipped = {peer["name"] for peer in report["left_out"]}
    assert skipped.isdisjoint(figures)


def test_report_is_printed_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "build_checked", fail_to_build)
    monkeypatch.setattr(peers, "PEERS", (PEERS[-1]._replace(module="no_such_module", name="a thing"),))
    ran = run("peers", "--seconds", "0.01")
    assert ran.code == 0, ran
    for words in (
        "moves/s",
        research.ENVIRONMENT,
        "not measured",
        "Skipped: a thing (no_such_module is not",
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


def test_page_is_generated_from_the_stored_reports() -> None:
    found = page.read()
    gpu_report = page.read_gpu()
    assert page.PAGE.read_text(encoding="utf-8") == page.page(found, gpu_report, page.read_many_cores())
    for path, plot in page.PLOTS.items():
        assert path.read_text(encoding="utf-8") == plot(found)
    paths = {page.CPU_FILE, page.MANY_CORES_FILE, *page.PLOTS}
    if gpu_report:
        assert page.GPU_PLOT.read_text(encoding="utf-8") == plots.launches(gpu_report)
        paths |= {page.GPU_FILE, page.GPU_PLOT}
    assert set(page.FOLDER.iterdir()) == paths


def test_stored_report_has_the_current_figures_and_targets() -> None:
    found = page.read()
    targets = [(ratio.name, ratio.numerator, ratio.denominator, ratio.target) for ratio in found.ratios]
    assert targets == [tuple(target) for target in research.TARGETS]
    names = {figure.name for figure in found.figures} | {peer.name for peer in found.skipped}
    assert {*GAMES, C_PROGRAM, *(peer.name for peer in PEERS), research.ENVIRONMENT, research.BATCH} <= names
    for ratio in found.ratios:
        if ratio.value is not None and ratio.target is not None:
            assert ratio.met == (ratio.value >= ratio.target)


def test_page_has_a_section_on_the_machine_with_many_cores() -> None:
    found = page.read()
    missing = msgspec.structs.replace(found.ratios[0], value=None, low=None, high=None, met=None)
    known = msgspec.structs.replace(found.ratios[1], value=7.0, low=6.0, high=8.0)
    many_cores = msgspec.structs.replace(found, machine="a large one", ratios=(missing, known))
    text = page.page(found, None, many_cores)
    before, heading, section = text.partition("## Two threads on a machine with many")
    assert before.rstrip() == page.page(found, None).rstrip()
    assert heading
    assert "another machine (a large one; " in section
    assert f"| {known.numerator} | {known.denominator} | 7 (6 to 8) |" in section
    assert "not measured" not in section


def test_page_lists_missed_targets_and_skipped_peers() -> None:
    found = page.read()
    missed = msgspec.structs.replace(found.ratios[0], value=7.0, low=6.0, high=8.0, met=False)
    missing = msgspec.structs.replace(found.ratios[1], value=None, low=None, high=None, met=None)
    skipped = (SkippedPeer("a thing", "it is missing", "look for it"),)
    changed = msgspec.structs.replace(found, ratios=(missed, missing), skipped=skipped)
    text = page.page(changed, None)
    names = f"{missed.numerator} relative to {missed.denominator}"
    assert f"This run **missed** 1 of 2 targets: {names}." in text
    assert f"| 7 (6 to 8) | {missed.target:,g}: **missed** |" in text
    assert f"| {missing.numerator} | {missing.denominator} | not measured | {missing.target:g} |" in text
    assert "- a thing: it is missing. To install it: `look for it`" in text


def test_page_does_not_claim_a_target_that_many_rounds_miss() -> None:
    found = page.read()
    barely = msgspec.structs.replace(found.ratios[0], value=1600.0, low=1400.0, high=1700.0, met=True)
    clearly = msgspec.structs.replace(barely, low=1550.0)
    idle = msgspec.structs.replace(found, ratios=(barely, clearly), load_average=(0.5, 1.2))
    text = page.page(idle, None)
    assert "(1,400 to 1,700) | 1,500: **not clearly met**, more than a quarter" in text
    assert "(1,550 to 1,700) | 1,500 |" in text


def test_page_warns_of_a_busy_machine() -> None:
    found = page.read()
    met = msgspec.structs.replace(found.ratios[0], value=1600.0, low=1550.0, high=1700.0, met=True)
    idle = msgspec.structs.replace(found, ratios=(met,), load_average=(0.5, 1.2))
    busy = msgspec.structs.replace(idle, load_average=(0.5, 3.0))
    assert "| 1,500 |" in page.page(idle, None)
    assert "The machine was busy" not in page.page(idle, None)
    assert "| 1,500, met on a busy machine |" in page.page(busy, None)
    assert "The machine was busy" in page.page(busy, None)


@pytest.mark.parametrize(("speed_up", "free"), [(1.95, True), (1.2, False)])
def test_page_warns_of_a_missing_second_core(speed_up: float, free: bool) -> None:
    found = page.read()
    ratios = tuple(
        msgspec.structs.replace(ratio, value=speed_up)
        if ratio.numerator == research.GAMES_TWO_THREADS
        else ratio
        for ratio in found.ratios
    )
    text = page.page(msgspec.structs.replace(found, ratios=ratios), None)
    assert ("Two cores were not fully available" in text) is not free
