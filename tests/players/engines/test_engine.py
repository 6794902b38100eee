"""`axio engine`: all commands, errors, and the end of the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from typing import IO, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiogames import __version__, new_game
from axiogames.errors import InvalidPlayers
from axiogames.games import GAMES, find_variant
from axiogames.model.events import redact_event
from axiogames.model.record import apply_event
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.players import PLAYERS, Budget, player
from axiogames.players.engines.protocol import MAX_LINE_LENGTH, MAX_SKIPPED, read_budget
from axiogames.players.engines.serve import COMMANDS, Engine
from axiogames.players.engines.views import write_view
from axiogames.players.interface import Choice
from axiogames.players.match import play_match
from axiogames.rng import Generator
from tests.cli.test_cli import ENVIRONMENT, assert_refused, run
from tests.players.engines.requests import line_of

GAME = GAMES[0]


@pytest.fixture
def engine() -> Engine:
    """Return an engine for seat 0, which is to move."""
    engine = Engine(GAME, "greedy")
    assert accepted(engine, f"view {write_view(new_game(GAME, seed=7).view(0))}") == ""
    return engine


def accepted(engine: Engine, line: str) -> str:
    """Assert that a request is accepted, and return the answer."""
    answer = engine.respond(line)
    assert answer is not None
    assert answer.startswith("="), answer
    assert answer.endswith("\n\n")
    assert "\n\n" not in answer[:-2]
    return answer[1:].strip()


def refused(engine: Engine, line: str) -> str:
    """Assert that a request is refused, and return the reason."""
    answer = engine.respond(line)
    assert answer is not None
    assert answer.startswith("?"), answer
    assert answer.endswith("\n\n")
    assert answer.count("\n") == 2
    return answer[1:].strip()


def test_engine_identification(engine: Engine) -> None:
    assert accepted(engine, "protocol_version") == "1"
    assert accepted(engine, "name") == "axio greedy"
    assert accepted(engine, "version") == __version__
    assert accepted(engine, "list_commands").split() == list(COMMANDS)
    assert accepted(engine, "known_command think") == "true"
    assert accepted(engine, "known_command stop") == "false"


def test_answers_repeat_the_request_number(engine: Engine) -> None:
    assert engine.respond("12 protocol_version\n") == "=12 1\n\n"
    assert engine.respond("  7   undo  \r\n") == "?7 there is no event to undo\n\n"
    assert engine.respond("0") == "?0 unknown command '': list_commands lists all\n\n"


@pytest.mark.parametrize("line", ["", "\n", "   \t \n", "# a remark", "  # another\n"])
def test_empty_lines_and_comments_are_not_answered(engine: Engine, line: str) -> None:
    assert engine.respond(line) is None


def test_legal_moves_have_points(engine: Engine) -> None:
    table = new_game(GAME, seed=7)
    legal = json.loads(accepted(engine, "legal"))
    assert [entry["move"] for entry in legal] == [str(move) for move in table.legal_moves()]
    for entry in legal[::20]:
        assert entry["gain"] == table.gain(entry["move"])
        assert json.loads(accepted(engine, f"points {entry['move']}"))["gain"] == entry["gain"]


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        pytest.param(bot, name, marks=[] if (i + j) % 2 == 0 else [pytest.mark.slow])
        for i, bot in enumerate(PLAYERS)
        for j, name in enumerate(GAMES)
    ],
)
def test_engine_plays_the_moves_of_its_player(name: str, bot: str) -> None:
    engine = Engine(name, bot)
    table = new_game(name, seed="engine")
    for number in range(6):
        seat = table.turn
        assert seat is not None
        accepted(engine, f"set seed {number}")
        accepted(engine, f"view {write_view(table.view(seat))}")
        answer = json.loads(accepted(engine, "think 50r"))
        expected = player(bot).choose(table.view(seat), read_budget("50r"), Generator(str(number)))
        if bot in ("random", "greedy", "balanced"):  # a view may list the moves of a search in another order
            assert answer["move"] == str(expected.move)
            assert [candidate["why"] for candidate in answer["candidates"]] == [
                candidate.why for candidate in expected.candidates
            ]
        assert answer["candidates"][0]["move"] == answer["move"]
        table.play(answer["move"])


def test_same_seed_gives_the_same_move(engine: Engine) -> None:
    accepted(engine, "set player random")
    accepted(engine, "set seed seven of nine")
    first = [accepted(engine, "think") for _ in range(5)]
    assert len(set(first)) > 1
    accepted(engine, "set seed seven of nine")
    assert [accepted(engine, "think") for _ in range(5)] == first
    assert json.loads(accepted(engine, "settings")) == {"player": "random", "seed": "seven of nine"}
    assert "choose from" in refused(engine, "set player deepblue")
    assert "engine:" in refused(engine, "set player engine:/bin/sh")
    assert json.loads(accepted(engine, "settings"))["player"] == "random"


def test_think_is_refused_out_of_turn(engine: Engine) -> None:
    accepted(engine, "new_game 1 2")
    assert refused(engine, "think") == "a draw is due: seat 0 has to draw"
    table = new_game(GAME, seed=7)
    accepted(engine, f"view {write_view(table.view(1))}")
    for command in ("think", "legal", "points RR e3-f3"):
        assert refused(engine, command) == "it is the turn of seat 0, not of seat 1"
    over = play_match(GAME, [player("random"), player("random")], 1)
    accepted(engine, f"view {write_view(over.view(0))}")
    assert refused(engine, "think") == "the game is over"
    accepted(engine, "show_board")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("stop", "unknown command 'stop'"),
        ("think soon", "invalid budget"),
        ("think 0s", "invalid budget"),
        ("points", "not a move"),
        ("points RR a1-a2", "outside"),
        ("set", "set player NAME"),
        ("set seed", "set seed TEXT"),
        ("new_game", "new_game SEAT"),
        ("new_game x", "'x' should be a number, the seat"),
        ("new_game 2", "no seat 2"),
        ("new_game 0 5", "1 to 4 players"),
        ("new_game 0 2 blind", "no option 'blind'"),
        ("draw", "should be a number"),
        ("draw 0 RR", "no tile is due to be drawn"),
        ("play 0", "not a move"),
        ("play 1 RR e3-f3", "not this seat's turn"),
        ("play 0 exchange ? ?", "write them, not ?"),
        ("start", "each tile of the display and its cell"),
        ("start RGBO 0,0", "not among those"),
        ("remove", "number of tiles"),
        ("remove 3", "0 have to be"),
        ("view {}", "not a view"),
        ("undo", "no event to undo"),
        ("play ² RR e3-f3", "should be a number"),
    ],
)
def test_invalid_request_is_refused_and_changes_nothing(engine: Engine, line: str, reason: str) -> None:
    before = accepted(engine, "show_view")
    assert reason in refused(engine, line)
    assert accepted(engine, "show_view") == before
    accepted(engine, "think")


SEAT_COMMANDS = (
    "play {} exchange ?", "play {} exchange ? ?", "play {} exchange", "play {} exchange RGB", "play {} pass",
    "play {} keep", "play {} RR e3-f3", "play {} RGBO 0,0", "draw {} ?", "draw {} RR",
)  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_unknown_seat_is_refused_at_any_time(name: str) -> None:
    engine = Engine(name, "random")
    table = Table(find_variant(name))
    whole = play_match(name, [player("random"), player("random")], 1).events
    for number, event in enumerate(whole[:6]):
        for line in SEAT_COMMANDS:
            for seat in (2, 9, 999):
                reason = refused(engine, line.format(seat))
                assert reason == f"there is no seat {seat}: 0 to 1", (number, line)
        apply_event(table, event)
        accepted(engine, line_of(redact_event(event, 0, table.variant.exchange_is_public)))


@pytest.mark.parametrize("name", GAMES)
def test_exchange_is_limited_to_the_hand(name: str) -> None:
    table = new_game(name, seed=7)
    while table.turn != 1:
        table.play(next(move for move in table.legal_moves() if move.kind == "place"))
    engine, hand = Engine(name, "random"), table.variant.hand
    accepted(engine, f"view {write_view(table.view(0))}")
    before = accepted(engine, "show_view")
    for count in (hand + 1, 100, 10_000):
        reason = refused(engine, f"play 1 exchange {'? ' * count}")
        assert (f"holds {hand} tiles, not {count}" in reason) or table.variant.exchange_is_public
        assert "internal" not in reason
        assert accepted(engine, "show_view") == before
    if not table.variant.exchange_is_public:
        accepted(engine, f"play 1 exchange {'? ' * hand}")


def test_view_of_another_game_is_refused(engine: Engine) -> None:
    view = write_view(new_game(GAMES[1], seed=1).view(0))
    assert f"started for {GAME}, not for {GAMES[1]}" in refused(engine, f"view {view}")


def test_view_sets_players_and_options() -> None:
    engine = Engine(GAMES[-1], "random")
    table = Table(find_variant(GAMES[-1], 3, {"short": True}), 1)
    accepted(engine, f"view {write_view(table.view(0))}")
    assert json.loads(accepted(engine, "show_view"))["options"] == ["short"]
    accepted(engine, "new_game 2")
    assert json.loads(accepted(engine, "show_view"))["players"] == 3
    accepted(engine, "remove 40")
    accepted(engine, "new_game 0 1")
    assert json.loads(accepted(engine, "show_view"))["options"] == []


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.builds("{} {}".format, st.sampled_from(list(COMMANDS)), st.text())))
def test_garbage_does_not_stop_the_engine(line: str) -> None:
    answer = GARBAGE.respond(line)
    assert answer is None or (answer[0] in "=?" and answer.endswith("\n\n") and "\n\n" not in answer[:-2])
    assert answer is None or "internal error" not in answer
    assert GARBAGE.respond("5 protocol_version") == "=5 1\n\n"


GARBAGE = Engine(GAME, "random")
ODD = (
    "", "0", "-1", "²", "٣", "nan", "inf", "-", "?", "1e999", "9" * 5000, "x" * 100_000, "\0", "\ud800",
    "0 " * 5000, "0 RR", "0 ? ? ?", "0 exchange " + "RR " * 5000, "RR 0,0 " * 500, "{}", "[" * 50_000,
    '{"a":' * 50_000, "null", "1s " * 5000, "9" * 400 + "r", "1rx" + "9" * 400,
    "1s 1s 1s 1s 1s 1s 1s 1s 1s", "3601s", "@", "random@" + "9" * 400, "player random@" + "9" * 400 + "r",
    "seed \ud800", "seed " + "9" * 5000, "player engine:cat", "0 2 " + "x " * 5000, "0 4 short", "999",
    "0 999", '{"seat":0,"position":""}', '{"seat":1e400,"position":"' + "9" * 5000 + '"}',
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_refusals_are_one_short_line(name: str, engine: Engine) -> None:
    for word in ODD:
        answer = engine.respond(f"7 {name} {word}")
        assert answer is not None
        assert answer.startswith(("=7", "?7")), (word[:40], answer)
        assert "internal error" not in answer, (word[:40], answer)
        if answer.startswith("?"):
            assert len(answer) < 700, (word[:40], answer)
    assert "unknown command" in refused(engine, "٣ name"), "numbers are written in ASCII digits"


class Broken:
    """A player that raises an error."""

    name = "random"

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        raise ZeroDivisionError("a fault")


def test_failing_player_does_not_stop_the_engine(
    engine: Engine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_player", Broken())
    assert "internal error" in refused(engine, "think")
    assert "a fault" in caplog.text
    accepted(engine, "set player greedy")
    accepted(engine, "think")


def test_long_lines_are_refused_and_skipped() -> None:
    engine, out = Engine(GAME, "random"), StringIO()
    lines = [f"3 view {'x' * MAX_LINE_LENGTH * 3}", "4 protocol_version", "y" * (MAX_LINE_LENGTH - 1), "name"]
    engine.serve(StringIO("\n".join(lines)), out)
    answers = out.getvalue().split("\n\n")
    assert answers[0] == f"?3 the line is longer than {MAX_LINE_LENGTH} characters"
    assert answers[1] == "=4 1"
    assert answers[2].startswith("? unknown command")
    assert answers[3] == "= axio random"
    engine.serve(StringIO("z" * (MAX_LINE_LENGTH + 5)), out)
    assert out.getvalue().endswith("characters\n\n")
    assert not engine.over


class Endless(StringIO):
    """A source with a single, endless line."""

    read_so_far = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        assert size > 0, "the size of a read must be bounded"
        self.read_so_far += size
        return "\0" * size


def test_endless_line_stops_the_engine() -> None:
    engine, out, endless = Engine(GAME, "random"), StringIO(), Endless()
    engine.serve(endless, out)
    assert out.getvalue() == f"? the line is longer than {MAX_LINE_LENGTH} characters\n\n"
    assert MAX_SKIPPED < endless.read_so_far < MAX_SKIPPED + 3 * MAX_LINE_LENGTH


# ---------------------------------------------------------------- as a process


class Pipes:
    """An engine process and its pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "axiogames", "engine", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.into: IO[bytes] = self.process.stdin
        self.out: IO[bytes] = self.process.stdout

    def ask(self, line: bytes) -> bytes:
        self.into.write(line + b"\n")
        self.into.flush()
        lines = list(iter(self.out.readline, b"\n"))
        return b"".join(lines).strip()

    def close(self) -> tuple[int, bytes]:
        out, err = self.process.communicate(timeout=60)
        assert out == b""
        return self.process.returncode, b"".join(
            line for line in err.splitlines(keepends=True) if b": compiling the rules of " not in line
        )


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    opened = Pipes(GAME, "--bot", "greedy")
    yield opened
    opened.process.kill()
    opened.process.communicate()


def test_answers_are_flushed(pipes: Pipes) -> None:
    assert pipes.ask(b"1 protocol_version") == b"=1 1"
    assert pipes.ask(b"2 name") == b"=2 axio greedy"
    assert pipes.ask(b"nonsense").startswith(b"?")
    assert pipes.ask(b"9 quit") == b"=9"
    assert pipes.close() == (0, b"")


def test_invalid_encodings_are_refused(pipes: Pipes) -> None:
    for line in (
        b"\xff\xfe\x00t",
        b"view \xc3\x28",
        b"set player f\xfcr",
        b"\x00\x00",
        b"\x1b[2J",
    ):
        assert pipes.ask(line).startswith(b"?"), line
    assert pipes.ask(b"name") == b"= axio greedy"


def test_end_of_input_stops_the_engine(pipes: Pipes) -> None:
    assert pipes.ask(b"name") == b"= axio greedy"
    pipes.into.write(b"3 version")  # a last line without a line break is a request, too
    assert pipes.process.communicate(timeout=60)[0] == f"=3 {__version__}\n\n".encode()
    assert pipes.process.returncode == 0


def test_closed_output_stops_the_engine(pipes: Pipes) -> None:
    assert pipes.ask(b"name") == b"= axio greedy"
    pipes.out.close()
    pipes.into.write(b"name\nname\n")
    pipes.into.flush()
    assert pipes.process.wait(60) == 141
    assert pipes.process.stderr is not None
    assert b"Traceback" not in pipes.process.stderr.read()


def test_engine_plays_itself_through_pipes() -> None:
    """Two engine processes play a complete game. Each receives the events that its seat sees."""
    table = Table(find_variant(GAMES[-1]), "pipes")
    engines = [Pipes(GAMES[-1], "--bot", bot) for bot in ("balanced", "greedy")]
    sent = [0, 0]
    for seat, engine in enumerate(engines):
        assert engine.ask(f"new_game {seat}".encode()) == b"="
    while (mover := table.turn) is not None:
        for seat, engine in enumerate(engines):
            events = table.view(seat).events
            for event in events[sent[seat] :]:
                assert engine.ask(line_of(event).encode()).startswith(b"=")
            sent[seat] = len(events)
        answer: dict[str, Any] = json.loads(engines[mover].ask(b"think 10ms")[1:])
        table.play(answer["move"])
    assert table.result is not None
    for engine in engines:
        assert engine.ask(b"quit") == b"="
        assert engine.close() == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chess"], ["chess", GAMES[-1]]),
        ([GAME, "--bot", "deepblue"], ["deepblue", "random"]),
        ([GAME, "--bot", "random@never"], ["never", "invalid budget"]),
        ([GAME, "--players", "5"], ["--players", "5"]),
        ([GAME, "--option", "blind"], ["blind"]),
    ],
)
def test_invalid_arguments_are_refused_in_one_line(arguments: list[str], words: list[str]) -> None:
    assert_refused(run("engine", *arguments), *words)


def test_engine_accepts_built_in_players_only() -> None:
    with pytest.raises(InvalidPlayers):
        Engine(GAME, f"engine:{os.devnull}")
