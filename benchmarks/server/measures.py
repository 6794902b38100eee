"""The measurements: tables in play, tables at rest, the way to the first page."""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from statistics import median
from typing import TypeVar

import uvloop

from benchmarks.server.databases import Store, store
from benchmarks.server.echo_client import Echo
from benchmarks.server.http_client import Http
from benchmarks.server.load import Latencies, Load
from benchmarks.server.processes import (
    Placing,
    Running,
    echo_command,
    free_port,
    on_core,
    running,
    serve_command,
)
from benchmarks.server.report import Memory, Page, Played, spread

BUSY = 1.5  # seconds of a round
ECHO = 0.7
PACED = 8.0
WARMING = 3.0
GAMES_A_SECOND = 120  # more than can end
SHORTEST_GAME = 15  # moves, about
SETTLING = 2.0

T = TypeVar("T")


def run_on(core: int, work: Callable[[], Awaitable[T]]) -> T:
    """Run the clients on a core, with as few pauses of their own as can be."""

    async def main() -> T:
        return await work()

    with on_core(core), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        gc.disable()
        try:
            return runner.run(main())
        finally:
            gc.enable()
            gc.collect()


def play(kind: str, placing: Placing, game: str, tables: int, *, pace: float | None, rounds: int) -> Played:
    """Tables in play, with all moves counted in the database at the end."""
    with ExitStack() as stack:
        kept = stack.enter_context(store(kind, placing.server))
        server = stack.enter_context(_server(kept, placing.server))
        port = free_port()
        echo = stack.enter_context(running(echo_command(port), port, placing.server))
        server.settle()

        async def work() -> Played:
            return await _play(kept, placing, game, server, echo.port, tables, pace, rounds)

        played = run_on(placing.clients, work)
        server.kill()
        found = kept.moves()
        assert found == played.moves, f"{played.moves} moves were acknowledged, {found} are in the database"
        return played


def _server(kept: Store, core: int | None) -> AbstractContextManager[Running]:
    port = free_port()
    return running(serve_command(port, kept.folder, kept.url), port, core)


async def _play(
    kept: Store,
    placing: Placing,
    game: str,
    server: Running,
    echo_port: int,
    tables: int,
    pace: float | None,
    rounds: int,
) -> Played:
    load, echo = Load(server.port, game), Echo(echo_port)
    seconds = BUSY if pace is None else PACED
    # Games that began at the same time also end at the same time.
    spare = tables + int(seconds * (GAMES_A_SECOND if pace is None else tables / pace / SHORTEST_GAME))
    await echo.grow(tables)
    await load.grow(tables, spare)
    await load.busy(WARMING)
    rates, echoes, taken = list[float](), list[float](), list[Latencies]()
    syncs = list[list[float]]()
    server_cpu = client_cpu = 0.0
    before = load.acknowledged
    for _ in range(rounds):
        load.tidy()
        await load.grow(tables, spare)
        await asyncio.sleep(0.3)
        syncs.append(kept.syncs())
        echoes.append(await echo.run(ECHO))
        mine, theirs = time.process_time(), server.cpu_seconds
        rates.append(await (load.busy(seconds) if pace is None else load.paced(seconds, pace)))
        client_cpu += time.process_time() - mine
        server_cpu += server.cpu_seconds - theirs
        taken.append(load.latencies)
    moves = load.acknowledged - before
    echo.close()
    await load.close()
    return Played(
        database=kept.name,
        placing=placing.name,
        tables=tables,
        paced=pace is not None,
        moves_a_second=median(rates),
        lowest=min(rates),
        highest=max(rates),
        echoes_a_second=median(echoes),
        ratio=median(rate / echo for rate, echo in zip(rates, echoes, strict=True)),
        disk=spread(syncs),
        sender=spread([one.sender for one in taken]),
        other=spread([one.other for one in taken]),
        server_cpu=1e6 * server_cpu / moves,
        client_cpu=1e6 * client_cpu / moves,
        moves=load.acknowledged,
        short=load.short,
    )


def rest(kind: str, placing: Placing, game: str, tables: int) -> Memory:
    """What idle tables take: the server with so many and with twice as many, both clients connected."""
    with store(kind, placing.server) as kept, _server(kept, placing.server) as server:
        server.settle()

        async def work() -> Memory:
            load = Load(server.port, game)
            await load.grow(2)
            await asyncio.sleep(SETTLING)
            sizes = [server.resident]
            for count in (tables, 2 * tables):
                await load.grow(count)
                await asyncio.sleep(SETTLING)
                sizes.append(server.resident)
            await load.close()
            return Memory(kind, tables, (sizes[2] - sizes[1]) / tables, sizes[0])

        return run_on(placing.clients, work)


def first_page(placing: Placing, rounds: int) -> Page:
    """How soon there is a page after a start, and how soon all its files are there."""
    with store("sqlite", None) as kept:
        starts, found = [], list[tuple[float, float, int, int]]()
        for _ in range(rounds + 1):
            with _server(kept, placing.server) as server:
                starts.append(server.seconds)
                found.append(run_on(placing.clients, partial(_fetch, server.port)))
    _, _, files, size = found[-1]
    return Page(
        first_start=starts[0],
        start=median(starts[1:]),
        page=1000 * median(one[0] for one in found[1:]),
        files=files,
        kilobytes=size / 1000,
        all=1000 * median(one[1] for one in found[1:]),
    )


async def _fetch(port: int) -> tuple[float, float, int, int]:
    """Seconds for the page, for everything; how many files, how many bytes."""
    http = Http(port, 1)
    paths = await _files(http)
    begun, size = time.perf_counter(), 0
    alone = 0.0
    for path in paths:
        size += len((await http.get(path, Accept_Encoding="gzip")).body)
        alone = alone or time.perf_counter() - begun
    taken = time.perf_counter() - begun
    await http.close()
    return alone, taken, len(paths) - 1, size


async def _files(http: Http) -> list[str]:
    """The page and whatever it leads to: styles, scripts and what these import."""
    found, at = ["/"], 0
    while at < len(found):
        path = found[at]
        at += 1
        text = (await http.get(path)).body.decode(errors="replace")
        pattern = r'(?:href|src)="(/[^"]*\.\w+)"' if path == "/" else r'(?:from|import) *"(\.[^"]*\.js)"'
        for name in re.findall(pattern, text) if path == "/" or path.endswith(".js") else ():
            whole = name if name.startswith("/") else _joined(path, name)
            if whole not in found:
                found.append(whole)
    return found


def _joined(path: str, relative: str) -> str:
    parts = path.split("/")[:-1]
    for part in relative.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
