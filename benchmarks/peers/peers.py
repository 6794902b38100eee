"""The peers: other engines and a C program, each in a process that does work on request."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from axiogames.optional_deps import install_command
from benchmarks.peers import peer_program
from benchmarks.peers.equivalence import difference
from benchmarks.peers.peer_program import Measurement

SOURCE = Path(__file__).with_name("equivalent.c")
COMPILERS = ("cc", "gcc", "clang")
# On x86, GCC 12 otherwise uses AVX-512 registers, which is 10 % slower.
_ARCHITECTURE_FLAGS = ("-mno-avx512f",) if platform.machine() in ("x86_64", "AMD64") else ()
FLAGS = ("-O3", "-march=native", *_ARCHITECTURE_FLAGS, "-std=gnu11")
GAMES_COMPARED = 500
SEED = "88172645463325252"  # initial generator state; must not be 0

C_PROGRAM = "C program"


class Peer(NamedTuple):
    """An engine of another project."""

    name: str
    program: str  # argument of `peer_program`
    module: str  # required module
    install: str  # how to install it


_RL = install_command("rl")
_MOMALAND = f"pip install --no-deps momaland, after {_RL}"
_OPEN_SPIEL = _RL
_PGX = "pip install pgx"
PEERS = (
    Peer("MOMAland's Ingenious", peer_program.MOMALAND_GAMES, "momaland", _MOMALAND),
    Peer("MOMAland's Ingenious, steps", peer_program.MOMALAND_STEPS, "momaland", _MOMALAND),
    Peer("MOMAland's Ingenious, rules only", peer_program.MOMALAND_RULES, "momaland", _MOMALAND),
    Peer("OpenSpiel's hex 11×11", peer_program.OPEN_SPIEL_HEX, "pyspiel", _OPEN_SPIEL),
    Peer("OpenSpiel's havannah, side 8", peer_program.OPEN_SPIEL_HAVANNAH, "pyspiel", _OPEN_SPIEL),
    Peer("pgx's hex 11×11", peer_program.PGX_HEX, "pgx", _PGX),
    Peer("pgx's go 9×9", peer_program.PGX_GO, "pgx", _PGX),
)
MOMALAND, MOMALAND_STEPS = PEERS[0].name, PEERS[1].name


class SkippedPeer(msgspec.Struct, frozen=True):
    """A peer that was not measured, the reason, and how to install it."""

    name: str
    reason: str = msgspec.field(name="why")
    install: str = msgspec.field(name="get")


class PeerFailed(ChildProcessError):
    """A peer failed to start or to answer."""


class PeerProcess:
    """A process that prints its versions and then does each amount of work that it reads."""

    def __init__(self, command: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in `close`
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        try:
            self.version = self._answer()
        except PeerFailed:
            self.close()
            raise

    def work(self, amount: int) -> Measurement:
        """Do an amount of work. Raises `PeerFailed`."""
        assert self._process.stdin
        try:
            print(amount, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise PeerFailed(self._last_error()) from None
        return Measurement(*map(float, self._answer().split()))

    def close(self) -> None:
        """Close the input of the process and wait for it to exit."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # the process has exited already
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> str:
        assert self._process.stdout
        if not (line := self._process.stdout.readline()):
            raise PeerFailed(self._last_error())
        return line.strip()

    def _last_error(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it exited without a message")


@contextmanager
def programs() -> Iterator[tuple[dict[str, PeerProcess], list[SkippedPeer]]]:
    """Start all installed peers. Yield them by name, and the peers that were skipped."""
    found: dict[str, PeerProcess] = {}
    skipped: list[SkippedPeer] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="axio-bench-")))
        try:
            found[C_PROGRAM] = _start(stack, [str(build_checked(folder)), "serve", SEED])
        except PeerFailed as error:
            skipped.append(SkippedPeer(C_PROGRAM, str(error), "a C compiler: apt install gcc, or CC=…"))
        for peer in PEERS:
            if find_spec(peer.module) is None:
                skipped.append(SkippedPeer(peer.name, f"{peer.module} is not installed", peer.install))
                continue
            try:
                command = [sys.executable, "-m", peer_program.__name__, peer.program]
                found[peer.name] = _start(stack, command)
            except PeerFailed as error:
                skipped.append(SkippedPeer(peer.name, str(error), peer.install))
        yield found, skipped


def _start(stack: ExitStack, command: Sequence[str]) -> PeerProcess:
    program = PeerProcess(command)
    stack.callback(program.close)
    return program


def build_checked(folder: Path, *defines: str) -> Path:
    """Compile the C program and check that it plays the same games as our rules. Raises `PeerFailed`."""
    program = build(folder, *defines)
    if mismatch := difference(program, GAMES_COMPARED):
        raise PeerFailed(f"it does not play the same games as our rules: {mismatch}")
    return program


def build(folder: Path, *defines: str) -> Path:
    """Compile the C program into a folder. Raises `PeerFailed`."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC") or COMPILERS[0], *COMPILERS))), None)
    if compiler is None:
        raise PeerFailed("no C compiler found")
    program = folder / SOURCE.stem
    command = [compiler, *FLAGS, *defines, str(SOURCE), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[:500]}")
    return program
