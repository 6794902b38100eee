"""Measurements: tables in play, memory of idle tables, and time to the first page."""

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
    CoreLayout,
    ServerProcess,
    echo_command,
    free_port,
    on_core,
    running,
    serve_command,
)
from benchmarks.server.report import Memory, Page, Played, spread

# Seconds per round.
BUSY = 1.5
ECHO = 0.7
PACED = 8.0
WARM_UP = 3.0
SETTLING = 2.0
MAX_GAMES_PER_SECOND = 120  # upper limit of games that end at full speed
MIN_GAME_LENGTH = 15  # moves

T = TypeVar("T")


def run_on(core: int, work: Callable[[], Awaitable[T]]) -> T:
    """Run the clients on a core, without garbage collection."""

    async def main() -> T:
        return await work()

    with on_core(core), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        gc.disable()
        try:
            return runner.run(main())
        finally:
            gc.enable()
            gc.collect()


def play(kind: str, layout: CoreLayout, game: str, tables: int, *, pace: float | None, rounds: int) -> Played:
    """Measure tables in play. At the end, all moves are counted in the database."""
    with ExitStack() as stack:
        database = stack.enter_context(store(kind, layout.server))
        server = stack.enter_context(_server(database, layout.server))
        port = free_port()
        echo = stack.enter_context(running(echo_command(port), port, layout.server))
        server.settle()

        async def work() -> Played:
            load = Load(server.port, game)
            return await _play(
                database, server, load, Echo(echo.port), layout, tables=tables, pace=pace, rounds=rounds
            )

        played = run_on(layout.clients, work)
        server.kill()
        found = database.moves()
        assert found == played.moves, f"{played.moves} moves were acknowledged, {found} are in the database"
        return played


def _server(database: Store, core: int | None) -> AbstractContextManager[ServerProcess]:
    port = free_port()
    return running(serve_command(port, database.folder, database.url), port, core)


async def _play(
    database: Store,
    server: ServerProcess,
    load: Load,
    echo: Echo,
    layout: CoreLayout,
    *,
    tables: int,
    pace: float | None,
    rounds: int,
) -> Played:
    seconds = BUSY if pace is None else PACED
    # Games that started at the same time end at about the same time, so every table needs a spare one.
    spare = tables + int(
        seconds * (MAX_GAMES_PER_SECOND if pace is None else tables / pace / MIN_GAME_LENGTH)
    )
    await echo.grow(tables)
    await load.grow(tables, spare)
    await load.busy(WARM_UP)
    rates, echoes, latencies = list[float](), list[float](), list[Latencies]()
    syncs = list[list[float]]()
    server_cpu = client_cpu = 0.0
    before = load.acknowledged
    for _ in range(rounds):
        load.tidy()
        await load.grow(tables, spare)
        await asyncio.sleep(0.3)
        syncs.append(database.syncs())
        echoes.append(await echo.run(ECHO))
        client_start, server_start = time.process_time(), server.cpu_seconds
        rates.append(await (load.busy(seconds) if pace is None else load.paced(seconds, pace)))
        client_cpu += time.process_time() - client_start
        server_cpu += server.cpu_seconds - server_start
        latencies.append(load.latencies)
    moves = load.acknowledged - before
    echo.close()
    await load.close()
    return Played(
        database=database.name,
        layout=layout.name,
        tables=tables,
        paced=pace is not None,
        moves_per_second=median(rates),
        lowest=min(rates),
        highest=max(rates),
        echoes_per_second=median(echoes),
        ratio=median(rate / echo for rate, echo in zip(rates, echoes, strict=True)),
        disk=spread(syncs),
        sender=spread([round_latencies.sender for round_latencies in latencies]),
        other=spread([round_latencies.other for round_latencies in latencies]),
        server_cpu=1e6 * server_cpu / moves,
        client_cpu=1e6 * client_cpu / moves,
        moves=load.acknowledged,
        missing_spares=load.missing_spares,
    )


def idle_memory(kind: str, layout: CoreLayout, game: str, tables: int) -> Memory:
    """Measure the memory of idle tables with two connected clients each.

    It is the difference between `tables` and twice as many tables, so fixed costs do not count.
    """
    with store(kind, layout.server) as database, _server(database, layout.server) as server:
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

        return run_on(layout.clients, work)


def first_page(layout: CoreLayout, rounds: int) -> Page:
    """Measure the time from the start of a server to the first page, and to all files of the page."""
    with store("sqlite", None) as database:
        starts, found = [], list[tuple[float, float, int, int]]()
        for _ in range(rounds + 1):
            with _server(database, layout.server) as server:
                starts.append(server.seconds)
                found.append(run_on(layout.clients, partial(_fetch, server.port)))
    _, _, files, size = found[-1]
    return Page(
        first_start=starts[0],
        start=median(starts[1:]),
        page=1000 * median(times[0] for times in found[1:]),
        files=files,
        kilobytes=size / 1000,
        all=1000 * median(times[1] for times in found[1:]),
    )


async def _fetch(port: int) -> tuple[float, float, int, int]:
    """Return the seconds for the page, the seconds for all files, the number of files, and their bytes."""
    http = Http(port, 1)
    paths = await _files(http)
    start, size = time.perf_counter(), 0
    page_seconds = 0.0
    for path in paths:
        size += len((await http.get(path, Accept_Encoding="gzip")).body)
        page_seconds = page_seconds or time.perf_counter() - start
    all_seconds = time.perf_counter() - start
    await http.close()
    return page_seconds, all_seconds, len(paths) - 1, size


async def _files(http: Http) -> list[str]:
    """Return the paths of the page and of all files it needs: styles, scripts and their imports."""
    found = ["/"]
    for path in found:  # grows during the loop
        text = (await http.get(path)).body.decode(errors="replace")
        pattern = r'(?:href|src)="(/[^"]*\.\w+)"' if path == "/" else r'(?:from|import) *"(\.[^"]*\.js)"'
        for name in re.findall(pattern, text) if path == "/" or path.endswith(".js") else ():
            absolute = name if name.startswith("/") else _resolve(path, name)
            if absolute not in found:
                found.append(absolute)
    return found


def _resolve(path: str, relative: str) -> str:
    parts = path.split("/")[:-1]
    for part in relative.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
