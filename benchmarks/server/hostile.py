"""`python -m benchmarks.server.hostile`: how much one hostile client costs everybody else.

For each kind of attack (`attacks.py`) it starts a server with its limits on, lets 200 honest tables play at a
move a second, and adds one hostile client in every second phase: without, with, without, with. Phases
alternate, so that other work on the machine meets both alike. What is compared is the p99 of the time from
sending a move to its acknowledgement. Every honest client has a loopback address of its own, and so has the
hostile one (Linux only). The hostile client is a process that gives way to the honest clients on their core;
the server has the other core, if there is one.

It fails if p99 more than doubles, or if the server's memory, with that of its processes, grows by more than
64 MB.
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
    Placing,
    Running,
    compile_rules,
    free_port,
    on_core,
    placings,
    running,
    serve_command,
)
from benchmarks.server.report import Spread, spread
from benchmarks.server.websocket_client import connect

TABLES = 200
PACE = 1.0  # seconds from one move to the next at a table
PHASE = 3.0  # seconds
ROUNDS = 3  # phases without and with the client; the figures are medians of theirs
MOST_RATIO = 2.0  # of p99 with the client to p99 without
MOST_GROWTH = 64_000_000  # bytes
SHORTEST_GAME = 12  # moves, about
GETTING_READY = 60.0  # seconds for the hostile client
SETTLING = 1.0  # seconds after the hostile client has been started or stopped
WIDTH = 150  # of the table, where there is no terminal to say
LOGIN = b'{"username":"ada","password":"good password"}'
SAMPLED = 0.03  # seconds between looks at the memory


class Outcome(Struct, frozen=True):
    """What one kind of hostile client did to everybody else."""

    kind: str
    alone: Spread  # milliseconds from sending a move to its acknowledgement, without the client
    beside: Spread  # with the client
    ratio: float  # of p99
    growth: float  # bytes by which the server grew from the first phase to its largest
    moves: int
    done: dict[str, int]  # what the client counted
    failed: str  # why the kind fails; empty if it does not


@dataclass(slots=True)
class _Taken:
    """Latencies of all phases, without and with the client."""

    alone: list[list[float]] = field(default_factory=list)
    beside: list[list[float]] = field(default_factory=list)
    largest: int = 0
    done: Counter[str] = field(default_factory=Counter)


@click.command()
@click.option(
    "--only", multiple=True, type=click.Choice(list(ATTACKS)), help="Only this kind; may be repeated."
)
@click.option("--tables", default=TABLES, show_default=True, help="Honest tables.")
@click.option("--seconds", default=PHASE, show_default=True, help="Length of a phase.")
@click.option("--rounds", default=ROUNDS, show_default=True, help="Phases without and with the client.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
def main(only: tuple[str, ...], tables: int, seconds: float, rounds: int, as_json: bool) -> None:
    """Measure what one hostile client costs everybody else."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server ends with this program
    notes = Console(stderr=True)
    notes.print("compiling the rules, where that is still to be done …")
    compile_rules()
    outcomes = []
    for kind in only or ATTACKS:
        notes.print(f"{kind}: {ATTACKS[kind].__doc__} …", end=" ")
        outcomes.append(_measure(kind, tables, seconds, rounds))
        notes.print(outcomes[-1].failed or f"p99 × {outcomes[-1].ratio:.2f}")
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(outcomes), indent=1).decode() + "\n")
    else:
        console = Console()
        _show(outcomes, console if console.is_terminal else Console(width=WIDTH))
    if any(outcome.failed for outcome in outcomes):
        sys.exit(1)


def _measure(kind: str, tables: int, seconds: float, rounds: int) -> Outcome:
    placing = placings()[-1]
    with store("sqlite", placing.server) as kept:
        port = free_port()
        command = serve_command(port, kept.folder, kept.url, limits=True)
        with running(command, port, placing.server) as server:
            server.settle()

            async def work() -> Outcome:
                return await _play(kind, placing, server, tables, seconds, rounds)

            return run_on(placing.clients, work)


async def _play(
    kind: str, placing: Placing, server: Running, tables: int, seconds: float, rounds: int
) -> Outcome:
    load = Load(server.port, "axio", apart=True)
    await _warm_up(server.port)
    await load.grow(tables, _spare(tables, seconds))
    hostile = _start(kind, server.port, placing)
    taken, before, failed = _Taken(), 0, ""
    try:
        await _line(hostile, GETTING_READY)
        for number in range(rounds):
            load.tidy()
            await load.grow(tables, 2 * _spare(tables, seconds))
            taken.alone.append(await _phase(load, server, taken, seconds))
            if not number:
                before = taken.largest  # with what an honest login takes while it is checked
            _tell(hostile, "go")
            await asyncio.sleep(SETTLING)
            taken.beside.append(await _phase(load, server, taken, seconds))
            _tell(hostile, "stop")
            taken.done.update(msgspec.json.decode(await _line(hostile, GETTING_READY), type=dict[str, int]))
            await asyncio.sleep(SETTLING)
    except (RuntimeError, OSError, TimeoutError) as error:
        failed = f"the measurement has failed: {error!r}"
    finally:
        hostile.kill()
        hostile.wait()
    await load.close()
    return _outcome(kind, taken, before, failed)


def _spare(tables: int, seconds: float) -> int:
    return max(10, int(tables * seconds / PACE / SHORTEST_GAME))


async def _warm_up(port: int) -> None:
    """Let the server load what everybody needs once, such as the process that draws."""
    http = Http(port, 1, "127.2.0.1")
    token = (await http.post("/api/guests", {"name": "Ada"}))["token"]
    seats = [{"kind": "me"}, {"kind": "bot", "level": "level8"}]
    path = (await http.post("/api/tables", {"game": "axio", "seats": seats}, token))["id"]
    await http.get(f"/api/tables/{path}/picture.png")
    await http.ask(
        "POST",
        "/api/enter",
        LOGIN,
        Content_Type="application/json",
    )
    hinted = asyncio.Event()

    def hear(text: bytes) -> None:
        if b'"type":"hint"' in text[:20]:
            hinted.set()

    socket = await connect(port, f"/api/tables/{path}/live", token, hear, "127.2.0.1")
    n = msgspec.json.decode((await http.get(f"/api/tables/{path}", Authorization=f"Bearer {token}")).body)[
        "n"
    ]
    socket.send(b'{"do":"hint","id":"h","n":%d}' % n)
    await asyncio.wait_for(hinted.wait(), GETTING_READY)
    socket.close()
    await http.close()


async def _phase(load: Load, server: Running, taken: _Taken, seconds: float) -> list[float]:
    """Let the honest tables play; how long their moves took."""
    watching = asyncio.create_task(_watch(server, taken))
    entering = asyncio.create_task(_log_in(server.port))
    try:
        await load.paced(seconds, PACE)
    finally:
        watching.cancel()
        entering.cancel()
        await asyncio.gather(entering, return_exceptions=True)
    if not load.latencies.sender:
        raise RuntimeError("no honest move was acknowledged")
    return load.latencies.sender


async def _log_in(port: int) -> None:
    """Try an honest login: checking a password takes 64 MB for a moment, whoever asks for it."""
    http = Http(port, 1, "127.3.0.1")
    try:
        await http.ask("POST", "/api/enter", LOGIN, Content_Type="application/json")
    finally:
        await http.close()


async def _watch(server: Running, taken: _Taken) -> None:
    while True:
        taken.largest = max(taken.largest, server.resident_with_children)
        await asyncio.sleep(SAMPLED)


def _outcome(kind: str, taken: _Taken, before: int, failed: str) -> Outcome:
    nothing = Spread(0.0, 0.0, 0.0)
    alone = spread(taken.alone) if taken.alone else nothing
    beside = spread(taken.beside) if taken.beside else nothing
    ratio = beside.p99 / alone.p99 if alone.p99 else 0.0
    growth = taken.largest - before
    if not failed and ratio > MOST_RATIO:
        failed = f"p99 × {ratio:.2f}"
    if not failed and growth > MOST_GROWTH:
        failed = f"{growth / 1e6:.0f} MB more"
    if not failed and taken.done.get("broken"):
        failed = "the hostile client has ended early"
    moves = sum(map(len, (*taken.alone, *taken.beside)))
    return Outcome(kind, alone, beside, ratio, growth, moves, dict(taken.done), failed)


# ---------------------------------------------------------------- the hostile process


def _start(kind: str, port: int, placing: Placing) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.server.attacks", kind, str(port)]
    with on_core(placing.clients):
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _tell(hostile: subprocess.Popen[bytes], line: str) -> None:
    assert hostile.stdin is not None
    hostile.stdin.write(line.encode() + b"\n")
    hostile.stdin.flush()


async def _line(hostile: subprocess.Popen[bytes], seconds: float) -> bytes:
    assert hostile.stdout is not None
    line = await asyncio.wait_for(asyncio.to_thread(hostile.stdout.readline), seconds)
    if not line:
        raise RuntimeError("the hostile client has ended")
    return line


# ---------------------------------------------------------------- what is shown


def _show(outcomes: Sequence[Outcome], console: Console) -> None:
    table = Table(title=f"One hostile client ({SOURCE}) beside {TABLES} honest tables")
    for name in ("client", "p50 ms", "with it", "p99 ms", "with it", "ratio", "memory", "what it did", ""):
        table.add_column(name, justify="left" if name in ("client", "what it did", "") else "right")
    for one in outcomes:
        done = ", ".join(
            f"{count:,} {name}" for name, count in sorted(one.done.items(), key=lambda item: -item[1])
        )
        table.add_row(
            one.kind,
            *(f"{value:.1f}" for value in (one.alone.p50, one.beside.p50, one.alone.p99, one.beside.p99)),
            f"{one.ratio:.2f}",
            f"{one.growth / 1e6:+.0f} MB",
            done,
            f"[red]{one.failed}" if one.failed else "[green]good",
        )
    console.print(table)


if __name__ == "__main__":
    main()
