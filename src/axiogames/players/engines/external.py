"""An engine as a process: started, asked, and ended when it is late."""

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

MOST_LINES = 10_000  # of one answer
LONGEST_ANSWER = 4 * LONGEST_LINE  # characters
PATIENCE = 1.0  # seconds that an engine has to end by itself


class Process:
    """A process that speaks the engine protocol. What goes wrong with it names its command.

    It has a session of its own, so that Ctrl-C in the terminal reaches whoever asks, not the engine.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._number = 0
        try:
            self._popen = subprocess.Popen(
                words_of(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise EngineTerminated(command, f"cannot be started: {why}") from None
        self._end = weakref.finalize(self, _end, self._popen)

    def ask(self, command: str, seconds: float) -> str:
        """Return an answer. Raises `EngineTimeout`, `EngineTerminated` or `EngineProtocolError`.

        After `seconds` the process is ended: that is what ends waiting for it, to read or to write.
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
        """End the process: it is told by the end of its input, and made to if it does not listen."""
        self._end()

    def _read(self, request: Request) -> tuple[bool, str]:
        for _ in range(MOST_LINES):
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
            if len(lines) > MOST_LINES or size > LONGEST_ANSWER:
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
            code = self._popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def words_of(command: str) -> list[str]:
    """The words of a command line.

    Raises `InvalidPlayers` if there are none, a quote is left open, or records could not name it.
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
    """End a process and whatever it has started: a child that lives on would keep the pipes open."""
    if popen.poll() is not None:
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(popen.pid, signal.SIGKILL)
        else:
            popen.kill()
    except ProcessLookupError:
        pass  # it has ended in this moment


def _end(popen: subprocess.Popen[bytes]) -> None:
    assert popen.stdin is not None
    assert popen.stdout is not None
    with suppress(OSError):  # it may have ended already, with something unread
        popen.stdin.close()
    try:
        popen.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        _kill(popen)
        popen.wait()
    popen.stdout.close()


SETTING_UP = 120.0  # seconds to start or to take a view in: something may have to be compiled
GRACE = 5.0  # seconds that an answer may come later than the limit says
NEEDED = ("view", "think")
LONGEST_WHY = 300  # characters
MOST_CANDIDATES = 1000  # that are looked at
MOST_VALUES = 16  # of a candidate


class Considered(Struct, frozen=True):
    """A candidate as an engine tells it."""

    move: str
    value: tuple[float, ...] = ()
    why: str = ""


class Thought(Struct, frozen=True):
    """What an engine answers to `think`."""

    move: str
    candidates: tuple[Considered, ...] = ()


_DECODER = msgspec.json.Decoder(Thought)


class Foreign:
    """Asks a process that somebody else may have written.

    The process is started when a move is first asked for. It is sent the view of the seat that has to move
    and nothing else, so one process should not play two seats of a game. If it ends or is late, it is started
    anew and asked the same once more; if that fails, too, the error is raised. An answer that makes no sense
    is an error at once.
    """

    def __init__(
        self,
        command: str,
        *,
        budget: Budget | None = None,
        name: str | None = None,
        setting_up: float = SETTING_UP,
        grace: float = GRACE,
    ) -> None:
        words_of(command)  # raises `InvalidPlayers` now, not in the middle of a game
        self.command = command
        self.name = name or f"engine:{command}"
        self._budget = budget
        self._setting_up = setting_up
        self._grace = grace
        self._process: Process | None = None
        self._commands: frozenset[str] = frozenset()

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the engine's move. Raises `EngineTimeout`, `EngineTerminated` or `EngineProtocolError`."""
        seed = rng.bits()
        budget = self._budget or budget
        try:
            return self._ask(view, budget, seed)
        except (EngineTerminated, EngineTimeout):
            return self._ask(view, budget, seed)

    def close(self) -> None:
        """End the process, if there is one. The next move starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(self, view: View, budget: Budget, seed: int) -> Choice:
        try:
            process = self._process or self._started()
            if "set" in self._commands:
                process.ask(f"set seed {seed}", self._setting_up)
            process.ask(f"view {write_view(view)}", self._setting_up)
            told = process.ask(f"think {write_budget(budget)}", budget.seconds + self._grace)
            return self._choice(view, told)
        except EngineError:
            self.close()
            raise

    def _started(self) -> Process:
        process = self._process = Process(self.command)
        version = process.ask("protocol_version", self._setting_up)
        if version != PROTOCOL_VERSION:
            raise EngineProtocolError(
                self.command, f"speaks version {in_one_line(version)[:20]!r}, not {PROTOCOL_VERSION}"
            )
        self._commands = frozenset(process.ask("list_commands", self._setting_up).split())
        if missing := [name for name in NEEDED if name not in self._commands]:
            raise EngineProtocolError(self.command, f"does not know {' and '.join(missing)}")
        return process

    def _choice(self, view: View, told: str) -> Choice:
        try:
            thought = _DECODER.decode(told)
            move = _legal(view, thought.move)
            considered = [
                Candidate(_legal(view, one.move), one.value[:MOST_VALUES], in_one_line(one.why[:LONGEST_WHY]))
                for one in thought.candidates[:MOST_CANDIDATES]
            ]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AxioError) as error:
            raise EngineProtocolError(
                self.command, f"answers {in_one_line(told[:80])!r}: {in_one_line(str(error)[:LONGEST_WHY])}"
            ) from None
        played = [one for one in considered if one.move == move] or [Candidate(move, (), "")]
        return Choice(move, (*played[:1], *(one for one in considered if one.move != move)))


def _legal(view: View, text: str) -> Move:
    """The move, written as `legal_moves` does. Raises `IllegalMove` or `ParseError`."""
    return view.variant.decode(view.state, view.action_of(text))
