"""`python -m benchmarks.server.hostile`: the cost of one hostile client for all other clients.

For each kind of attack (`attacks.py`), a server runs with its rate limits on. 200 honest tables play one
move per second, and a hostile client joins in every other phase. The phases alternate, so other load on
the machine affects both equally. The benchmark compares the p99 latency from sending a move to its
acknowledgement. Each honest client and the hostile one have a different loopback address (Linux only). The
hostile client is a process that yields to the honest clients on their core. The server uses another core,
if there is one.

The benchmark fails if the p99 latency more than doubles, or if the memory of the server and its child
processes grows by more than 64 MB.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import click
import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from benchmarks.server.attacks import ATTACKS, SOURCE
from benchmarks.server.databases import store
from benchmarks.server.http_client import Http
from benchmarks.server.load import Load
from benchmarks.server.measures import run_on
from benchmarks.server.processes import (
    CoreLayout,
    Running,
    compile_rules,
    core_layouts,
    free_port,
    on_core,
    running,
    serve_command,
)
from benchmarks.server.report import Spread, spread
from benchmarks.server.websocket_client import connect

TABLES = 200
PACE = 1.0  # seconds between moves at a table
PHASE = 3.0  # seconds
ROUNDS = 3  # pairs of phases, without and with the client; the figures are medians over them
MAX_RATIO = 2.0  # of the p99 latency with the client to that without
MAX_GROWTH = 64_000_000  # bytes
MIN_GAME_LENGTH = 12  # moves
READY_TIMEOUT = 60.0  # seconds
SETTLING = 1.0  # seconds after starting or stopping the hostile client
WIDTH = 150  # columns of the table, if the output is not a terminal
LOGIN = b'{"username":"ada","password":"good password"}'
MEMORY_INTERVAL = 0.03  # seconds between two measurements of the memory


class Outcome(Struct, frozen=True):
    """Effect of one kind of hostile client on all others."""

    kind: str
    without: Spread  # latency in milliseconds without the client
    attacked: Spread  # latency in milliseconds with the client
    ratio: float  # of the p99 latencies
    growth: float  # bytes by which the memory of the server grew after the first phase
    moves: int
    counters: dict[str, int]  # of the client
    failure: str  # empty if the server passed


@dataclass(slots=True)
class _Samples:
    """Latencies of all phases, the peak memory, and the counters of the hostile client."""

    without: list[list[float]] = field(default_factory=list)
    attacked: list[list[float]] = field(default_factory=list)
    peak_memory: int = 0
    counters: Counter[str] = field(default_factory=Counter)


@click.command()
@click.option(
    "--only", multiple=True, type=click.Choice(list(ATTACKS)), help="Run only this attack; may be repeated."
)
@click.option("--tables", default=TABLES, show_default=True, help="Number of honest tables.")
@click.option("--seconds", default=PHASE, show_default=True, help="Duration of a phase.")
@click.option(
    "--rounds", default=ROUNDS, show_default=True, help="Pairs of phases, without and with the client."
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
def main(*, only: tuple[str, ...], tables: int, seconds: float, rounds: int, as_json: bool) -> None:
    """Measure the cost of one hostile client for all other clients."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # exits through the cleanup, which stops the server
    notes = Console(stderr=True)
    notes.print("compiling the rules …")
    compile_rules()
    outcomes = []
    for kind in only or ATTACKS:
        notes.print(f"{kind}: {ATTACKS[kind].__doc__} …", end=" ")
        outcomes.append(_measure(kind, tables, seconds, rounds))
        notes.print(outcomes[-1].failure or f"p99 × {outcomes[-1].ratio:.2f}")
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(outcomes), indent=1).decode() + "\n")
    else:
        console = Console()
        _show(outcomes, console if console.is_terminal else Console(width=WIDTH))
    if any(outcome.failure for outcome in outcomes):
        sys.exit(1)


def _measure(kind: str, tables: int, seconds: float, rounds: int) -> Outcome:
    layout = core_layouts()[-1]
    with store("sqlite", layout.server) as database:
        port = free_port()
        command = serve_command(port, database.folder, database.url, limits=True)
        with running(command, port, layout.server) as server:
            server.settle()

            async def work() -> Outcome:
                return await _play(kind, layout, server, tables=tables, seconds=seconds, rounds=rounds)

            return run_on(layout.clients, work)


async def _play(
    kind: str, layout: CoreLayout, server: Running, *, tables: int, seconds: float, rounds: int
) -> Outcome:
    load = Load(server.port, "axio", separate_addresses=True)
    await _warm_up(server.port)
    await load.grow(tables, _spare_tables(tables, seconds))
    hostile = _start(kind, server.port, layout)
    samples, memory_before, failure = _Samples(), 0, ""
    try:
        await _read_line(hostile, READY_TIMEOUT)
        for number in range(rounds):
            load.tidy()
            await load.grow(tables, 2 * _spare_tables(tables, seconds))
            samples.without.append(await _phase(load, server, samples, seconds))
            if not number:
                memory_before = samples.peak_memory  # includes an honest login, which takes 64 MB
            _send_line(hostile, "go")
            await asyncio.sleep(SETTLING)
            samples.attacked.append(await _phase(load, server, samples, seconds))
            _send_line(hostile, "stop")
            counters = await _read_line(hostile, READY_TIMEOUT)
            samples.counters.update(msgspec.json.decode(counters, type=dict[str, int]))
            await asyncio.sleep(SETTLING)
    except (RuntimeError, OSError, TimeoutError) as error:
        failure = f"the measurement failed: {error!r}"
    finally:
        hostile.kill()
        hostile.wait()
    await load.close()
    return _outcome(kind, samples, memory_before, failure)


def _spare_tables(tables: int, seconds: float) -> int:
    return max(10, int(tables * seconds / PACE / MIN_GAME_LENGTH))


async def _warm_up(port: int) -> None:
    """Use the features that the server starts on first use, such as the rendering process."""
    http = Http(port, 1, "127.2.0.1")
    token = (await http.post("/api/guests", {"name": "Ada"}))["token"]
    seats = [{"kind": "me"}, {"kind": "bot", "level": "level8"}]
    table_id = (await http.post("/api/tables", {"game": "axio", "seats": seats}, token))["id"]
    path = f"/api/tables/{table_id}"
    await http.get(f"{path}/picture.png")
    await http.request("POST", "/api/enter", LOGIN, Content_Type="application/json")
    hinted = asyncio.Event()

    def on_text(text: bytes) -> None:
        if b'"type":"hint"' in text[:20]:
            hinted.set()

    socket = await connect(port, f"{path}/live", token, on_text, "127.2.0.1")
    view = await http.get(path, Authorization=f"Bearer {token}")
    n = msgspec.json.decode(view.body)["n"]
    socket.send(b'{"do":"hint","id":"h","n":%d}' % n)
    await asyncio.wait_for(hinted.wait(), READY_TIMEOUT)
    socket.close()
    await http.close()


async def _phase(load: Load, server: Running, samples: _Samples, seconds: float) -> list[float]:
    """Play at the honest tables and return the latencies of their moves."""
    memory_task = asyncio.create_task(_sample_memory(server, samples))
    login_task = asyncio.create_task(_log_in(server.port))
    try:
        await load.paced(seconds, PACE)
    finally:
        memory_task.cancel()
        login_task.cancel()
        await asyncio.gather(login_task, return_exceptions=True)
    if not load.latencies.sender:
        raise RuntimeError("no honest move was acknowledged")
    return load.latencies.sender


async def _log_in(port: int) -> None:
    """Log in as an honest client, because checking any password temporarily takes 64 MB."""
    http = Http(port, 1, "127.3.0.1")
    try:
        await http.request("POST", "/api/enter", LOGIN, Content_Type="application/json")
    finally:
        await http.close()


async def _sample_memory(server: Running, samples: _Samples) -> None:
    while True:
        samples.peak_memory = max(samples.peak_memory, server.resident_with_children)
        await asyncio.sleep(MEMORY_INTERVAL)


def _outcome(kind: str, samples: _Samples, memory_before: int, failure: str) -> Outcome:
    empty = Spread(0.0, 0.0, 0.0)
    without = spread(samples.without) if samples.without else empty
    attacked = spread(samples.attacked) if samples.attacked else empty
    ratio = attacked.p99 / without.p99 if without.p99 else 0.0
    growth = samples.peak_memory - memory_before
    if not failure and ratio > MAX_RATIO:
        failure = f"p99 × {ratio:.2f}"
    if not failure and growth > MAX_GROWTH:
        failure = f"{growth / 1e6:.0f} MB more memory"
    if not failure and samples.counters.get("broken"):
        failure = "the hostile client exited early"
    moves = sum(map(len, (*samples.without, *samples.attacked)))
    return Outcome(kind, without, attacked, ratio, growth, moves, dict(samples.counters), failure)


# ---------------------------------------------------------------- the hostile process


def _start(kind: str, port: int, layout: CoreLayout) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.server.attacks", kind, str(port)]
    with on_core(layout.clients):
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _send_line(hostile: subprocess.Popen[bytes], line: str) -> None:
    assert hostile.stdin is not None
    hostile.stdin.write(line.encode() + b"\n")
    hostile.stdin.flush()


async def _read_line(hostile: subprocess.Popen[bytes], seconds: float) -> bytes:
    assert hostile.stdout is not None
    line = await asyncio.wait_for(asyncio.to_thread(hostile.stdout.readline), seconds)
    if not line:
        raise RuntimeError("the hostile client has exited")
    return line


# ---------------------------------------------------------------- output


def _show(outcomes: Sequence[Outcome], console: Console) -> None:
    table = Table(title=f"One hostile client ({SOURCE}) and {TABLES} honest tables")
    for name in ("attack", "p50 ms", "attacked", "p99 ms", "attacked", "ratio", "memory", "counters", ""):
        table.add_column(name, justify="left" if name in ("attack", "counters", "") else "right")
    for outcome in outcomes:
        counters = sorted(outcome.counters.items(), key=lambda item: -item[1])
        without, attacked = outcome.without, outcome.attacked
        table.add_row(
            outcome.kind,
            *(f"{value:.1f}" for value in (without.p50, attacked.p50, without.p99, attacked.p99)),
            f"{outcome.ratio:.2f}",
            f"{outcome.growth / 1e6:+.0f} MB",
            ", ".join(f"{count:,} {name}" for name, count in counters),
            f"[red]{outcome.failure}" if outcome.failure else "[green]passed",
        )
    console.print(table)


if __name__ == "__main__":
    main()
