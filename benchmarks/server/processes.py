"""Server processes, each pinned to a core."""

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

START_TIMEOUT = 120.0  # seconds


class DidNotStart(Exception):
    """A process exited, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class CoreLayout:
    """The core of the server (and its database), and the core of the clients."""

    name: str
    server: int
    clients: int


def core_layouts() -> tuple[CoreLayout, ...]:
    """Return the layouts to measure: one core for everything and, if there are two cores, separate cores."""
    cores = sorted(os.sched_getaffinity(0))
    shared = CoreLayout("one core", cores[-1], cores[-1])
    return (shared, CoreLayout("separate cores", cores[-1], cores[0])) if len(cores) > 1 else (shared,)


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Pin this process and its children to one core."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class ServerProcess:
    """A server process that answers on a port."""

    process: subprocess.Popen[bytes]
    port: int
    seconds: float  # from its start to its first response

    @property
    def resident(self) -> int:
        """Resident memory of the process, in bytes."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    @property
    def resident_with_children(self) -> int:
        """Memory of the process and its children, in bytes."""
        total, pids = 0, [self.process.pid]
        while pids:
            folder = Path(f"/proc/{pids.pop()}")
            try:
                pages = int((folder / "statm").read_text().split()[1])
                pids += [int(pid) for task in (folder / "task").iterdir() for pid in _children(task)]
            except (OSError, IndexError):
                continue  # the process has just exited
            total += pages * os.sysconf("SC_PAGE_SIZE")
        return total

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the process, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Wait until the process is idle."""
        for _ in range(120):
            before = self.cpu_seconds
            time.sleep(0.5)
            if self.cpu_seconds - before <= 0.02:
                return

    def kill(self) -> None:
        """Kill the process without a chance to clean up."""
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
) -> Iterator[ServerProcess]:
    """Start a command on a core and wait until it serves a path. Raises `DidNotStart`."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        with on_core(core):
            process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, env=env)
        try:
            _wait(process, port, path, start)
            yield ServerProcess(process, port, time.perf_counter() - start)
        except DidNotStart as error:
            output.seek(0)
            raise DidNotStart(f"{error}\n{output.read().decode(errors='replace')[-3000:]}") from None
        finally:
            _stop(process)


def _wait(process: subprocess.Popen[bytes], port: int, path: str, start: float) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
    while time.perf_counter() - start < START_TIMEOUT:
        if process.poll() is not None:
            raise DidNotStart(f"the server exited with status {process.returncode}")
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
    """The package of a commit, and the names of its commands and options, which changed in version 0.2."""

    package: str = "axiogames"
    compile_rules: str = "compile"
    no_limits: str = "--no-rate-limit"


THIS = Program()


def program_in(sources: Path) -> Program:
    """Return the program in a source folder, of this or an older commit."""
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
    """Compile the rules ahead of time, so that the server does not compile them while it is measured."""
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
    """Return the command that starts the echo server."""
    return [sys.executable, "-m", "benchmarks.server.echo", str(port)]
