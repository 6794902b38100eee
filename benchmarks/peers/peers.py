"""The peers: other engines and a C program, each in a process that runs a workload on request."""

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
from benchmarks.peers.peer_program import Done

SOURCE = Path(__file__).with_name("equivalent.c")
COMPILERS = ("cc", "gcc", "clang")
# On x86, GCC 12 otherwise keeps numbers in the wide registers, which is a tenth slower.
_HERE = ("-mno-avx512f",) if platform.machine() in ("x86_64", "AMD64") else ()
FLAGS = ("-O3", "-march=native", *_HERE, "-std=gnu11")
GAMES_COMPARED = 500
SEED = "88172645463325252"  # of a generator that does not start at zero

C_PROGRAM = "C program"


class Peer(NamedTuple):
    """An engine of another project."""

    name: str
    program: str  # as `peer_program` calls it
    module: str  # that has to be installed
    get: str  # how


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


class LeftOut(msgspec.Struct, frozen=True):
    """A peer that was not measured, the reason, and how to install it."""

    name: str
    why: str
    get: str


class PeerFailed(ChildProcessError):
    """A peer failed to start or to answer."""


class PeerProcess:
    """A process that prints its versions and then runs a workload for each request."""

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

    def work(self, amount: int) -> Done:
        """Run `amount` of work. Raises `PeerFailed`."""
        assert self._process.stdin
        try:
            print(amount, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise PeerFailed(self._last_words()) from None
        return Done(*map(float, self._answer().split()))

    def close(self) -> None:
        """Close the input of the process and wait for it to exit."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # it has ended before
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> str:
        assert self._process.stdout
        if not (line := self._process.stdout.readline()):
            raise PeerFailed(self._last_words())
        return line.strip()

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it ended without a word")


@contextmanager
def programs() -> Iterator[tuple[dict[str, PeerProcess], list[LeftOut]]]:
    """Start all installed peers; yield them by name, and the peers that were left out."""
    found: dict[str, PeerProcess] = {}
    left_out: list[LeftOut] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="axio-bench-")))
        try:
            found[C_PROGRAM] = _started(stack, [str(built(folder)), "serve", SEED])
        except PeerFailed as error:
            left_out.append(LeftOut(C_PROGRAM, str(error), "a C compiler: apt install gcc, or CC=…"))
        for peer in PEERS:
            if find_spec(peer.module) is None:
                left_out.append(LeftOut(peer.name, f"{peer.module} is not installed", peer.get))
                continue
            try:
                command = [sys.executable, "-m", peer_program.__name__, peer.program]
                found[peer.name] = _started(stack, command)
            except PeerFailed as error:
                left_out.append(LeftOut(peer.name, str(error), peer.get))
        yield found, left_out


def _started(stack: ExitStack, command: Sequence[str]) -> PeerProcess:
    program = PeerProcess(command)
    stack.callback(program.close)
    return program


def built(folder: Path, *defines: str) -> Path:
    """Compile the C program and check that it plays our games. Raises `PeerFailed`."""
    program = compiled(folder, *defines)
    if differs := difference(program, GAMES_COMPARED):
        raise PeerFailed(f"it does not play our game: {differs}")
    return program


def compiled(folder: Path, *defines: str) -> Path:
    """Compile the C program into a folder. Raises `PeerFailed`."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC") or COMPILERS[0], *COMPILERS))), None)
    if compiler is None:
        raise PeerFailed("there is no C compiler")
    program = folder / SOURCE.stem
    command = [compiler, *FLAGS, *defines, str(SOURCE), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[:500]}")
    return program
