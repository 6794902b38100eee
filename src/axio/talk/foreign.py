"""A foreign engine as a player: any command line that speaks the engine protocol."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ..chance import Generator
from ..errors import AxioError, BadEngine, EngineGone, EngineLate, EngineWrong
from ..moves import Move
from ..players.interface import Budget, Candidate, Choice
from ..view import View
from .process import Process, words_of
from .views import write_view
from .wire import PROTOCOL_VERSION, in_one_line, write_budget

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
        words_of(command)  # raises `WrongPlayers` now, not in the middle of a game
        self.command = command
        self.name = name or f"engine:{command}"
        self._budget = budget
        self._setting_up = setting_up
        self._grace = grace
        self._process: Process | None = None
        self._commands: frozenset[str] = frozenset()

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        """The move that the engine answers. Raises `EngineLate`, `EngineGone` or `EngineWrong`."""
        seed = lots.bits()
        budget = self._budget or budget
        try:
            return self._ask(view, budget, seed)
        except (EngineGone, EngineLate):
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
        except BadEngine:
            self.close()
            raise

    def _started(self) -> Process:
        process = self._process = Process(self.command)
        version = process.ask("protocol_version", self._setting_up)
        if version != PROTOCOL_VERSION:
            raise EngineWrong(
                self.command, f"speaks version {in_one_line(version)[:20]!r}, not {PROTOCOL_VERSION}"
            )
        self._commands = frozenset(process.ask("list_commands", self._setting_up).split())
        if missing := [name for name in NEEDED if name not in self._commands]:
            raise EngineWrong(self.command, f"does not know {' and '.join(missing)}")
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
            raise EngineWrong(
                self.command, f"answers {in_one_line(told[:80])!r}: {in_one_line(str(error)[:LONGEST_WHY])}"
            ) from None
        played = [one for one in considered if one.move == move] or [Candidate(move, (), "")]
        return Choice(move, (*played[:1], *(one for one in considered if one.move != move)))


def _legal(view: View, text: str) -> Move:
    """The move, written as `legal_moves` does. Raises `IllegalMove` or `BadText`."""
    return view.variant.decode(view.state, view.action_of(text))
