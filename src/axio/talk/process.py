"""An engine as a process: started, asked, and ended when it is late."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import weakref
from contextlib import suppress
from threading import Event, Timer

from ..errors import EngineGone, EngineLate, EngineWrong, WrongPlayers
from .wire import LONGEST_LINE, Request, in_one_line

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
            raise EngineGone(command, f"cannot be started: {why}") from None
        self._end = weakref.finalize(self, _end, self._popen)

    def ask(self, command: str, seconds: float) -> str:
        """The answer to a command. Raises `EngineLate`, `EngineGone`, or `EngineWrong` if it is refused.

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
                raise EngineLate(
                    self.command, f"did not answer {_short(request)} within {seconds:g} s"
                ) from None
            raise EngineGone(self.command, f"{self._fate()} when asked {_short(request)}") from None
        finally:
            alarm.cancel()
        if refused:
            raise EngineWrong(self.command, f"refuses {_short(request)}: {in_one_line(text)[:300]}")
        return text

    def close(self) -> None:
        """End the process: it is told by the end of its input, and made to if it does not listen."""
        self._end()

    def _read(self, request: Request) -> tuple[bool, str]:
        for _ in range(MOST_LINES):
            if line := self._line():
                break
        else:
            raise EngineWrong(self.command, f"says nothing but empty lines to {_short(request)}")
        mark, rest = line[:1], line[1:]
        id, _, first = rest.partition(" ")
        if mark not in ("=", "?") or id != request.id:
            raise EngineWrong(
                self.command,
                f"said {in_one_line(line)[:80]!r} to {_short(request)}: an answer begins with "
                f"={request.id} or ?{request.id}",
            )
        lines, size = [first], len(first)
        while line := self._line():
            lines.append(line)
            size += len(line)
            if len(lines) > MOST_LINES or size > LONGEST_ANSWER:
                raise EngineWrong(self.command, f"answers {_short(request)} without an end")
        return mark == "?", "\n".join(lines).strip()

    def _line(self) -> str:
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline(LONGEST_LINE)
        if not line:
            raise EOFError
        if len(line) == LONGEST_LINE:
            raise EngineWrong(self.command, f"writes lines of more than {LONGEST_LINE} bytes")
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

    Raises `WrongPlayers` if there are none, a quote is left open, or records could not name it.
    """
    shown = command if len(command) <= 200 else f"{command[:200]}…"
    try:
        command.encode()
        words = shlex.split(command)
    except UnicodeEncodeError:
        raise WrongPlayers(f"engine command {shown!r}: it is not UTF-8, so no record could name it") from None
    except ValueError as error:
        raise WrongPlayers(f"engine command {shown!r}: {error}") from None
    if "\0" in command:
        raise WrongPlayers(f"engine command {shown!r}: no command contains NUL")
    if not words:
        raise WrongPlayers("an engine is named by its command, such as engine:./my_engine --fast")
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
