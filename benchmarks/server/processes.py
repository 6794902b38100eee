"""Servers as processes of their own, each on the core it is given."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PATIENCE = 120.0


class DidNotStart(Exception):
    """A process ended, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Which cores the server (with its database) and the clients run on."""

    name: str
    server: int
    clients: int


def placings() -> tuple[Placing, ...]:
    """One core for everything, and a core each where there are two."""
    cores = sorted(os.sched_getaffinity(0))
    one = Placing("one core", cores[-1], cores[-1])
    return (one, Placing("a core each", cores[-1], cores[0])) if len(cores) > 1 else (one,)


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Run here, and start children, on one core."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Running:
    """A server process that answers on a port."""

    process: subprocess.Popen[bytes]
    port: int
    seconds: float  # from its start to its first answer

    @property
    def resident(self) -> int:
        """Bytes of memory that the process holds."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    @property
    def resident_with_children(self) -> int:
        """Bytes of memory that the process and those it has started hold."""
        total, pids = 0, [self.process.pid]
        while pids:
            folder = Path(f"/proc/{pids.pop()}")
            try:
                pages = int((folder / "statm").read_text().split()[1])
                pids += [int(pid) for task in (folder / "task").iterdir() for pid in _children(task)]
            except (OSError, IndexError):
                continue  # it has ended in this moment
            total += pages * os.sysconf("SC_PAGE_SIZE")
        return total

    @property
    def cpu_seconds(self) -> float:
        """The processor time it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Wait until it has loaded everything and does nothing any more."""
        for _ in range(120):
            before = self.cpu_seconds
            time.sleep(0.5)
            if self.cpu_seconds - before <= 0.02:
                return

    def kill(self) -> None:
        """End it without a warning, as a power cut would."""
        self.process.kill()
        self.process.wait()


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text().split()
    except OSError:
        return []


@contextmanager
def running(
    command: Sequence[str],
    port: int,
    core: int | None,
    path: str = "/",
    *,
    env: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Start a command on a core and wait until it serves a path. Raises `DidNotStart`."""
    with tempfile.TemporaryFile() as said:
        begun = time.perf_counter()
        with on_core(core):
            process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, env=env)
        try:
            _wait(process, port, path, begun)
            yield Running(process, port, time.perf_counter() - begun)
        except DidNotStart as error:
            said.seek(0)
            raise DidNotStart(f"{error}\n{said.read().decode(errors='replace')[-3000:]}") from None
        finally:
            _stop(process)


def _wait(process: subprocess.Popen[bytes], port: int, path: str, begun: float) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
    while time.perf_counter() - begun < PATIENCE:
        if process.poll() is not None:
            raise DidNotStart(f"the server ended with status {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                connection.sendall(request)
                if connection.recv(64).startswith(b"HTTP/1.1 200"):
                    return
        except OSError:
            pass
        time.sleep(0.005)
    raise DidNotStart("the server did not answer")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Program(NamedTuple):
    """The package of a commit and the words of its command line, which were others before version 0.2."""

    package: str = "axiogames"
    compile_rules: str = "compile"
    no_limits: str = "--no-rate-limit"


THIS = Program()


def program_in(sources: Path) -> Program:
    """Return the program in the source folder of any commit."""
    package = "axiogames" if (sources / "axiogames").is_dir() else "axio"
    commands = "\n".join(
        path.read_text(encoding="utf-8") for path in (sources / package / "cli").rglob("*.py")
    )
    return Program(
        package,
        THIS.compile_rules if f'"{THIS.compile_rules}":' in commands else "warm",
        THIS.no_limits if THIS.no_limits in commands else "--no-limits",
    )


def compile_rules(program: Program = THIS, env: Mapping[str, str] | None = None) -> None:
    """Compile what the server would otherwise compile while it is measured."""
    command = [sys.executable, "-m", program.package, program.compile_rules]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)


def serve_command(
    port: int, folder: Path, database: str, *, limits: bool = False, program: Program = THIS
) -> list[str]:
    """Return the command that starts the server to be measured."""
    command = [sys.executable, "-m", program.package, "serve", "--port", str(port), "--data", str(folder)]
    command += [*([] if limits else [program.no_limits]), "--no-open", "--log", "warning"]
    return [*command, "--database", database] if database else command


def echo_command(port: int) -> list[str]:
    """The command that starts the yardstick."""
    return [sys.executable, "-m", "benchmarks.server.echo", str(port)]
