"""A server whose rules are not compiled yet: it answers at once, searches wait, and failures end nowhere."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiogames.files import hold_lock
from axiogames.games import find_variant
from axiogames.games.runtime import loops
from axiogames.games.runtime.compile import EntryPoint
from axiogames.games.runtime.kernels import Kernels
from axiogames.model.table import Table
from axiogames.players import Budget, player
from axiogames.players.evaluation.rollout_loops import one_ply_search_at
from axiogames.rng import Generator
from axiogames.server import rule_compiler, rule_loader
from axiogames.server.domain.bots import Bots
from axiogames.server.rule_compiler import ANOTHER_COMPILES, LOCK_FILE, NOT_SAVED, Job, compile_all
from axiogames.server.rule_loader import CompilerFailed, RuleLoader, RulesNotReady, RulesUnavailable
from axiogames.server.supervisor import BackgroundTask
from tests.server.driving import start_server
from tests.server.in_process import TIMEOUT

GAME = "rota"


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernels]:
    """The loops of a game, none of which is loaded. The state of this process is restored at the end."""
    found = find_variant(GAME, 2).kernels
    loaded = dict(found)
    found.clear()
    monkeypatch.setattr(EntryPoint, "interpreted", EntryPoint.interpreted)
    yield found
    Kernels.on_missing = None
    found.update(loaded)


def run(work: Callable[[RuleLoader], Awaitable[None]]) -> None:
    """Run a test with a loader that is started, and closed at the end."""

    async def main() -> None:
        loader = RuleLoader()
        loader.start()
        try:
            async with asyncio.timeout(TIMEOUT):
                await work(loader)
        finally:
            loader.close()

    asyncio.run(main())


def background_task() -> BackgroundTask:
    return BackgroundTask("rules", asyncio.Event(), essential=False)


def process(code: str) -> subprocess.Popen[bytes]:
    """Start a process in place of the compiling one."""
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def refuse(*_: object) -> bool:
    """Stand in for `Kernels.load` with an empty cache."""
    return False


# ---------------------------------------------------------------- before the rules are compiled


@pytest.mark.parametrize("game", ["axio", GAME])
def test_interpreted_loops_write_to_the_same_bytes(game: str) -> None:
    variant = find_variant(game, 2)
    interpreted, compiled = variant.new_state(), variant.new_state()
    for state, kernel in (
        (interpreted, variant.kernels.interpreted(loops.step)),
        (compiled, variant.kernels[loops.step]),
    ):
        for action, _ in (variant.chances(state)[0],) * 3:
            assert kernel(variant.constants, state, action, False) == 0
    assert interpreted.tobytes() == compiled.tobytes() != variant.new_state().tobytes()


def test_tables_work_and_searches_wait_until_loops_are_loaded(kernels: Kernels) -> None:
    async def work(loader: RuleLoader) -> None:
        table = Table(find_variant(GAME, 2), "seed")
        table.play(table.legal_moves()[0])
        assert loops.step not in kernels
        view, rng = table.view(table.turn), Generator("bot")
        with pytest.raises(RulesNotReady, match="one_ply_search_at of rota is not compiled yet"):
            player("instant").choose(view, Budget(), rng)

        tries = 0

        async def choose() -> str:
            nonlocal tries
            tries += 1
            return str(player("instant").choose(view, Budget(), rng).move)

        waiting = asyncio.create_task(loader.when_ready(choose))
        await asyncio.sleep(0)
        assert tries == 1
        kernels.build(one_ply_search_at)
        assert await waiting in [str(move) for move in view.legal_moves()]
        assert tries == 2

    run(work)


def test_loops_are_loaded_from_the_cache(kernels: Kernels) -> None:
    kernels.build(loops.step)  # compiled if the cache does not have it
    kernels.clear()

    async def work(loader: RuleLoader) -> None:
        assert kernels[loops.step] is kernels.interpreted(loops.step)
        await loader._load_ready()
        assert kernels[loops.step].signatures
        assert not loader._pending

    run(work)


def test_load_never_compiles(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels.build(loops.step)
    kernels.clear()
    monkeypatch.setattr("axiogames.games.runtime.kernels._loaded", {})
    monkeypatch.setattr("axiogames.games.runtime.compile_cache.RuleCache._load", lambda *_: None)
    assert kernels.is_compiled(loops.step)
    assert not kernels.load(loops.step)
    assert not kernels.is_compiled(loops.step)  # so that it is compiled again
    monkeypatch.undo()
    kernels.build(loops.step)
    assert kernels.is_compiled(loops.step)


def test_bot_plays_at_random_if_the_rules_cannot_be_compiled(
    kernels: Kernels, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(loader: RuleLoader) -> None:
        loader._failure = "no compiler"
        bots, table = Bots(1, 1.0, loader), Table(find_variant(GAME, 2), "seed")
        view = table.view(table.turn)
        choice = await bots.choose("level6", view)
        assert choice.move in list(view.legal_moves())
        with pytest.raises(RulesUnavailable):
            await bots.hint(view)
        bots.close()

    run(work)
    assert "rules for the bot level6 are unavailable" in caplog.text


def test_server_with_an_empty_cache_accepts_moves(tmp_path: Path) -> None:
    environment = {"AXIO_CACHE_DIR": str(tmp_path / "cache")}
    with start_server(tmp_path / "data", environment=environment) as server:
        guest = server.guest()
        progress = guest.request("GET", "/api/rules-progress").json
        assert all(0 <= share <= 1 for share in progress["games"].values())
        table = guest.open(GAME, ["me", "greedy"])
        with guest.live(table.id) as live:
            live.until("view")
            live.wait_for_turn()
            live.play(0)
            live.wait_for_turn()  # the bot, which does not search, has moved
        server.stop()
    (lock,) = (tmp_path / "cache").glob(LOCK_FILE)
    with hold_lock(lock) as free:
        assert free  # the compiling process has ended with the server


# ---------------------------------------------------------------- the compiling process and its failures


def test_killed_process_is_reported_and_replaced(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def spawn() -> subprocess.Popen[bytes]:
        started.append(process("input()"))
        return started[-1]

    monkeypatch.setattr(rule_loader, "_spawn", spawn)
    monkeypatch.setattr(rule_loader, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(Kernels, "load", refuse)

    async def work(loader: RuleLoader) -> None:
        for crashes in range(1, rule_loader.MAX_CRASHES + 1):
            running = asyncio.create_task(loader.run(background_task()))
            while len(started) < crashes:
                await asyncio.sleep(0.01)
            os.kill(started[-1].pid, signal.SIGKILL)
            with pytest.raises(CompilerFailed, match=rf"ended \({-signal.SIGKILL}\)"):
                await running
        assert loader._compiles_here

    run(work)
    assert len(started) == rule_loader.MAX_CRASHES


def test_server_compiles_if_the_cache_cannot_be_written(
    kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(rule_loader, "_spawn", lambda: process(f"import sys; sys.exit({NOT_SAVED})"))
    monkeypatch.setattr(rule_loader, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(Kernels, "load", refuse)
    monkeypatch.setattr(Kernels, "build", lambda kernels, template: built.append(template))

    async def work(loader: RuleLoader) -> None:
        with pytest.raises(CompilerFailed, match="not writable"):
            await loader.run(background_task())
        running = asyncio.create_task(loader.run(background_task()))
        await loader.all_ready.wait()
        assert loader.progress().ready
        running.cancel()

    run(work)
    assert one_ply_search_at in built


def test_close_ends_the_process(kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = process("input()")
    monkeypatch.setattr(rule_loader, "_spawn", lambda: child)
    monkeypatch.setattr(rule_loader, "cache_root", lambda: tmp_path)

    async def work(loader: RuleLoader) -> None:
        loader._check_process()
        assert child.poll() is None

    run(work)
    assert child.poll() is not None
    assert Kernels.on_missing is None


def test_process_ends_with_its_input(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", rule_compiler.__name__],
        stdin=subprocess.PIPE,
        env={**os.environ, "AXIO_CACHE_DIR": str(tmp_path)},
    )
    with child:
        assert child.stdin is not None
        while not (tmp_path / LOCK_FILE).exists():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)  # Ctrl-C is for the server
        child.stdin.close()
        assert child.wait(TIMEOUT) == 0


def test_only_one_process_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_compiler, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(rule_compiler, "_exit_with_input", lambda: None)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with hold_lock(tmp_path / LOCK_FILE) as held:
            assert held
            assert rule_compiler.main([]) == ANOTHER_COMPILES
        monkeypatch.setattr(rule_compiler, "cache_root", lambda: None)
        assert rule_compiler.main([]) == NOT_SAVED
    finally:
        signal.signal(signal.SIGINT, interrupt)


class CountingKernels:
    """Loops that are compiled in no time."""

    def __init__(self, wanted: dict[Any, float]) -> None:
        self.wanted, self.compiled = wanted, list[Any]()

    def is_compiled(self, template: Any) -> bool:
        return template in self.compiled

    def wanted_since(self, template: Any) -> float:
        return self.wanted.get(template, np.inf)

    def compile(self, templates: list[Any]) -> int:
        self.compiled += templates
        return len(templates)


def test_wanted_loops_are_compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_compiler, "is_ready", lambda *_: True)
    wanted = {loops.list_legal: 3.0, loops.score_all: 2.0, one_ply_search_at: 4.0}
    kernels: Any = CountingKernels(wanted)
    jobs = [Job(kernels, template) for template in (*loops.LOOPS, one_ply_search_at)]
    assert compile_all(jobs) == 0
    # Somebody waits for a search. Other loops run interpreted meanwhile.
    assert kernels.compiled[:3] == [one_ply_search_at, loops.score_all, loops.list_legal]
    assert set(kernels.compiled) == {*loops.LOOPS, one_ply_search_at}
