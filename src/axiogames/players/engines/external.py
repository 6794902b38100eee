"""External engines: a process that speaks the engine protocol, and the player that asks it for moves.

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
from .protocol import LONGEST_LINE, PROTOCOL_VERSION, Request, in_one_line, write_budget
from .views import write_view

MAX_LINES = 10_000  # of one answer
MAX_ANSWER = 4 * LONGEST_LINE  # characters
EXIT_TIMEOUT = 1.0  # seconds for an engine to exit after the end of its input
SETUP_TIMEOUT = 120.0  # seconds to start or to read a view: an engine may have to compile something
GRACE = 5.0  # seconds that an answer may take beyond the time limit
REQUIRED_COMMANDS = ("view", "think")
MAX_REASON = 300  # characters of an explanation or an error
MAX_CANDIDATES = 1000  # that are read
MAX_VALUES = 16  # of a candidate


# ---------------------------------------------------------------- the process


class EngineProcess:
    """A process that speaks the engine protocol. Its errors name its command.

    It has a session of its own, so that Ctrl-C in the terminal interrupts this program, not the engine.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._number = 0
        try:
            self._popen = subprocess.Popen(
                split_command(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise EngineTerminated(command, f"cannot be started: {why}") from None
        self._end = weakref.finalize(self, _end, self._popen)

    def ask(self, command: str, seconds: float) -> str:
        """Send a command and return the answer.

        After `seconds` the process is killed, which ends any blocking read or write.

        Raises:
            EngineTimeout: the engine did not answer in time.
            EngineTerminated: the engine has exited or closed its output.
            EngineProtocolError: the answer is malformed, or refuses the command.
        """
        self._number += 1
        request = Request(str(self._number), *command.partition(" ")[::2])
        late = Event()
        alarm = Timer(seconds, self._stop, (late,))
        alarm.daemon = True
        alarm.start()
        try:
            assert self._popen.stdin is not None
            self._popen.stdin.write(f"{request}\n".encode())
            self._popen.stdin.flush()
            refused, text = self._read(request)
        except (OSError, EOFError):
            if late.is_set():
                raise EngineTimeout(
                    self.command, f"did not answer {_short(request)} within {seconds:g} s"
                ) from None
            raise EngineTerminated(self.command, f"{self._fate()} when asked {_short(request)}") from None
        finally:
            alarm.cancel()
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
            raise EngineProtocolError(self.command, f"says nothing but empty lines to {_short(request)}")
        mark, rest = line[:1], line[1:]
        id, _, first = rest.partition(" ")
        if mark not in ("=", "?") or id != request.id:
            raise EngineProtocolError(
                self.command,
                f"said {in_one_line(line)[:80]!r} to {_short(request)}: an answer begins with "
                f"={request.id} or ?{request.id}",
            )
        lines, size = [first], len(first)
        while line := self._line():
            lines.append(line)
            size += len(line)
            if len(lines) > MAX_LINES or size > MAX_ANSWER:
                raise EngineProtocolError(self.command, f"answers {_short(request)} without an end")
        return mark == "?", "\n".join(lines).strip()

    def _line(self) -> str:
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline(LONGEST_LINE)
        if not line:
            raise EOFError
        if len(line) == LONGEST_LINE:
            raise EngineProtocolError(self.command, f"writes lines of more than {LONGEST_LINE} bytes")
        return line.decode("utf-8", "replace").rstrip()

    def _stop(self, late: Event) -> None:
        late.set()
        _kill(self._popen)

    def _fate(self) -> str:
        try:
            code = self._popen.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


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
            f"engine command {shown!r}: it is not UTF-8, so no record could name it"
        ) from None
    except ValueError as error:
        raise InvalidPlayers(f"engine command {shown!r}: {error}") from None
    if "\0" in command:
        raise InvalidPlayers(f"engine command {shown!r}: no command contains NUL")
    if not words:
        raise InvalidPlayers("an engine is named by its command, such as engine:./my_engine --fast")
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
    with suppress(OSError):  # it may have exited with unread input
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

    The process starts with the first move. It receives the view of the seat to move and nothing else, so one
    process should not play two seats of a game. If it exits or exceeds its time, it is restarted and asked
    once more; a second failure raises the error. A malformed answer raises at once.

    Args:
        command: the command line of the engine.
        budget: a budget of its own, which replaces that of the match.
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
        split_command(command)  # raises now, not in the middle of a game
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
        """Stop the process, if it runs. The next move starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(self, view: View, budget: Budget, seed: int) -> Choice:
        try:
            process = self._process or self._started()
            if "set" in self._commands:
                process.ask(f"set seed {seed}", self._setup_timeout)
            process.ask(f"view {write_view(view)}", self._setup_timeout)
            answer = process.ask(f"think {write_budget(budget)}", budget.seconds + self._grace)
            return self._choice(view, answer)
        except EngineError:
            self.close()
            raise

    def _started(self) -> EngineProcess:
        process = self._process = EngineProcess(self.command)
        version = process.ask("protocol_version", self._setup_timeout)
        if version != PROTOCOL_VERSION:
            raise EngineProtocolError(
                self.command, f"speaks version {in_one_line(version)[:20]!r}, not {PROTOCOL_VERSION}"
            )
        self._commands = frozenset(process.ask("list_commands", self._setup_timeout).split())
        if missing := [name for name in REQUIRED_COMMANDS if name not in self._commands]:
            raise EngineProtocolError(self.command, f"does not know {' and '.join(missing)}")
        return process

    def _choice(self, view: View, answer: str) -> Choice:
        try:
            reply = _DECODER.decode(answer)
            move = _legal(view, reply.move)
            considered = [
                Candidate(_legal(view, one.move), one.value[:MAX_VALUES], in_one_line(one.why[:MAX_REASON]))
                for one in reply.candidates[:MAX_CANDIDATES]
            ]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AxioError) as error:
            raise EngineProtocolError(
                self.command, f"answers {in_one_line(answer[:80])!r}: {in_one_line(str(error)[:MAX_REASON])}"
            ) from None
        played = [one for one in considered if one.move == move] or [Candidate(move, (), "")]
        return Choice(move, (*played[:1], *(one for one in considered if one.move != move)))


def _legal(view: View, text: str) -> Move:
    """Return a legal move in the spelling of `legal_moves`. Raises `IllegalMove` or `ParseError`."""
    return view.variant.decode(view.state, view.action_of(text))
