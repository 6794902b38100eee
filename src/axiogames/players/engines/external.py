"""External engines: processes that speak the engine protocol, as players.

An engine that exceeds its time is killed, together with the processes that it started.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import weakref
from contextlib import suppress
from threading import Event, Timer

import msgspec
from msgspec import Struct

from ...errors import (
    AxioError,
    EngineError,
    EngineProtocolError,
    EngineTerminated,
    EngineTimeout,
    InvalidPlayers,
)
from ...model.view import View
from ...moves import Move
from ...rng import Generator
from ..interface import Budget, Candidate, Choice
from .protocol import MAX_LINE_LENGTH, PROTOCOL_VERSION, Request, in_one_line, write_budget
from .views import write_view

MAX_LINES = 10_000  # per answer
MAX_ANSWER_LENGTH = 4 * MAX_LINE_LENGTH  # characters
EXIT_TIMEOUT = 1.0  # seconds for an engine to exit after the end of its input
SETUP_TIMEOUT = 120.0  # seconds to start or to read a view: an engine may have to compile code
GRACE = 5.0  # seconds that an answer may take beyond the time limit
REQUIRED_COMMANDS = ("view", "think")
MAX_REASON = 300  # characters of an explanation or an error
MAX_CANDIDATES = 1000  # per answer; the others are ignored
MAX_VALUES = 16  # per candidate


# ---------------------------------------------------------------- the process


class EngineProcess:
    """A process that speaks the engine protocol. Its errors name its command.

    It runs in its own session, so that Ctrl-C in the terminal interrupts this program and not the engine.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._number = 0
        try:
            self._popen = subprocess.Popen(
                split_command(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise EngineTerminated(command, f"cannot be started: {reason}") from None
        self._end = weakref.finalize(self, _end, self._popen)

    def ask(self, command: str, seconds: float) -> str:
        """Send a command and return the answer.

        After `seconds` the process is killed, which ends a blocking read or write.

        Raises:
            EngineTimeout: the engine did not answer in time.
            EngineTerminated: the engine has exited or closed its output.
            EngineProtocolError: the answer is malformed, or refuses the command.
        """
        self._number += 1
        request = Request(str(self._number), *command.partition(" ")[::2])
        timed_out = Event()
        timer = Timer(seconds, self._time_out, (timed_out,))
        timer.daemon = True
        timer.start()
        try:
            assert self._popen.stdin is not None
            self._popen.stdin.write(f"{request}\n".encode())
            self._popen.stdin.flush()
            refused, text = self._read(request)
        except (OSError, EOFError):
            if timed_out.is_set():
                raise EngineTimeout(
                    self.command, f"did not answer {_short(request)} within {seconds:g} s"
                ) from None
            raise EngineTerminated(self.command, f"{self._exit()} when asked {_short(request)}") from None
        finally:
            timer.cancel()
        if refused:
            raise EngineProtocolError(self.command, f"refuses {_short(request)}: {in_one_line(text)[:300]}")
        return text

    def close(self) -> None:
        """Close the input of the process, and kill it if it does not exit."""
        self._end()

    def _read(self, request: Request) -> tuple[bool, str]:
        for _ in range(MAX_LINES):
            if line := self._line():
                break
        else:
            raise EngineProtocolError(self.command, f"answers {_short(request)} with empty lines only")
        mark, rest = line[:1], line[1:]
        id, _, first = rest.partition(" ")
        if mark not in ("=", "?") or id != request.id:
            raise EngineProtocolError(
                self.command,
                f"answers {_short(request)} with {in_one_line(line)[:80]!r}: an answer begins with "
                f"={request.id} or ?{request.id}",
            )
        lines, size = [first], len(first)
        while line := self._line():
            lines.append(line)
            size += len(line)
            if len(lines) > MAX_LINES or size > MAX_ANSWER_LENGTH:
                raise EngineProtocolError(
                    self.command,
                    f"answers {_short(request)} with more than {MAX_LINES} lines or"
                    f" {MAX_ANSWER_LENGTH} characters",
                )
        return mark == "?", "\n".join(lines).strip()

    def _line(self) -> str:
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline(MAX_LINE_LENGTH)
        if not line:
            raise EOFError
        if len(line) == MAX_LINE_LENGTH:
            raise EngineProtocolError(self.command, f"writes lines of more than {MAX_LINE_LENGTH} bytes")
        return line.decode("utf-8", "replace").rstrip()

    def _time_out(self, timed_out: Event) -> None:
        timed_out.set()
        _kill(self._popen)

    def _exit(self) -> str:
        """Wait for the process to end and describe how it ended, for an error message."""
        try:
            code = self._popen.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def split_command(command: str) -> list[str]:
    """Split a command line into words.

    Raises:
        InvalidPlayers: the command is empty, a quote is not closed, or the text cannot be stored in records.
    """
    shown = command if len(command) <= 200 else f"{command[:200]}…"
    try:
        command.encode()
        words = shlex.split(command)
    except UnicodeEncodeError:
        raise InvalidPlayers(
            f"engine command {shown!r}: it is not UTF-8, so it cannot be stored in records"
        ) from None
    except ValueError as error:
        raise InvalidPlayers(f"engine command {shown!r}: {error}") from None
    if "\0" in command:
        raise InvalidPlayers(f"engine command {shown!r}: it contains NUL")
    if not words:
        raise InvalidPlayers("the engine command is empty: write a command, as in engine:./my_engine --fast")
    return words


def _short(request: Request) -> str:
    return f"'{f'{request.name} {request.rest}'.strip()[:40]}'"


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children, which would keep the pipes open."""
    if popen.poll() is not None:
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(popen.pid, signal.SIGKILL)
        else:
            popen.kill()
    except ProcessLookupError:
        pass  # it has just exited


def _end(popen: subprocess.Popen[bytes]) -> None:
    assert popen.stdin is not None
    assert popen.stdout is not None
    with suppress(OSError):  # it may have exited before it read all input
        popen.stdin.close()
    try:
        popen.wait(EXIT_TIMEOUT)
    except subprocess.TimeoutExpired:
        _kill(popen)
        popen.wait()
    popen.stdout.close()


# ---------------------------------------------------------------- the player


class CandidateReply(Struct, frozen=True):
    """A candidate in the answer to `think`."""

    move: str
    value: tuple[float, ...] = ()
    why: str = ""


class ThinkReply(Struct, frozen=True):
    """The answer to `think`."""

    move: str
    candidates: tuple[CandidateReply, ...] = ()


_DECODER = msgspec.json.Decoder(ThinkReply)


class ExternalEngine:
    """A player that asks an external engine for its moves.

    The process starts with the first move. It receives only the view of the seat to move, so one process must
    not play two seats of a game. If it exits or exceeds its time, it is restarted and asked once more; a
    second failure raises the error. A malformed answer raises at once.

    Args:
        command: the command line of the engine.
        budget: its own budget, which replaces the budget of the match.
        name: the name in records; by default `engine:` and the command.
        setup_timeout: seconds to start or to read a view.
        grace: seconds that an answer may take beyond the time limit.

    Raises:
        InvalidPlayers: the command is empty or malformed.
    """

    def __init__(
        self,
        command: str,
        *,
        budget: Budget | None = None,
        name: str | None = None,
        setup_timeout: float = SETUP_TIMEOUT,
        grace: float = GRACE,
    ) -> None:
        split_command(command)  # raises for an invalid command before a game starts
        self.command = command
        self.name = name or f"engine:{command}"
        self._budget = budget
        self._setup_timeout = setup_timeout
        self._grace = grace
        self._process: EngineProcess | None = None
        self._commands: frozenset[str] = frozenset()

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the engine's move.

        Raises:
            EngineTimeout: the engine exceeded its time twice.
            EngineTerminated: the engine exited twice.
            EngineProtocolError: the answer is malformed or the move is illegal.
        """
        seed = rng.bits()
        budget = self._budget or budget
        try:
            return self._ask(view, budget, seed)
        except (EngineTerminated, EngineTimeout):
            return self._ask(view, budget, seed)

    def close(self) -> None:
        """Stop the process, if it runs. The next move restarts it."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(self, view: View, budget: Budget, seed: int) -> Choice:
        try:
            process = self._process or self._start()
            if "set" in self._commands:
                process.ask(f"set seed {seed}", self._setup_timeout)
            process.ask(f"view {write_view(view)}", self._setup_timeout)
            answer = process.ask(f"think {write_budget(budget)}", budget.seconds + self._grace)
            return self._choice(view, answer)
        except EngineError:
            self.close()
            raise

    def _start(self) -> EngineProcess:
        process = self._process = EngineProcess(self.command)
        version = process.ask("protocol_version", self._setup_timeout)
        if version != PROTOCOL_VERSION:
            raise EngineProtocolError(
                self.command, f"speaks protocol version {in_one_line(version)[:20]!r}, not {PROTOCOL_VERSION}"
            )
        self._commands = frozenset(process.ask("list_commands", self._setup_timeout).split())
        if missing := [name for name in REQUIRED_COMMANDS if name not in self._commands]:
            raise EngineProtocolError(self.command, f"lacks the commands {' and '.join(missing)}")
        return process

    def _choice(self, view: View, answer: str) -> Choice:
        try:
            reply = _DECODER.decode(answer)
            move = _legal(view, reply.move)
            candidates = [
                Candidate(
                    _legal(view, candidate.move),
                    candidate.value[:MAX_VALUES],
                    in_one_line(candidate.why[:MAX_REASON]),
                )
                for candidate in reply.candidates[:MAX_CANDIDATES]
            ]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AxioError) as error:
            raise EngineProtocolError(
                self.command, f"answers {in_one_line(answer[:80])!r}: {in_one_line(str(error)[:MAX_REASON])}"
            ) from None
        others = [candidate for candidate in candidates if candidate.move != move]
        chosen = next((candidate for candidate in candidates if candidate.move == move), None)
        return Choice(move, (chosen or Candidate(move, (), ""), *others))


def _legal(view: View, text: str) -> Move:
    """Return a legal move as `legal_moves` lists it. Raise `IllegalMove` or `ParseError`."""
    return view.variant.decode(view.state, view.action_of(text))
