"""External engines as players: whole games, requests, and every kind of failure."""

from __future__ import annotations

import json
import os
import pickle
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import axiogames as axio
from axiogames.errors import EngineError, EngineProtocolError, EngineTerminated, EngineTimeout, InvalidPlayers
from axiogames.games import GAMES
from axiogames.model.view import View
from axiogames.players import Budget, player
from axiogames.players.engines.external import ExternalEngine
from axiogames.players.engines.specs import _idle, external_engine, open_players, parse_player
from axiogames.players.match import play_match
from axiogames.rng import Generator
from tests.cli.test_cli import assert_refused, run, spawn

ROOT = Path(__file__).parents[3]
EXAMPLE = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'examples' / 'engine.py'))}"
OURS = f"{shlex.quote(sys.executable)} -m axiogames engine"

# An engine whose answer to `think` is replaced by the code of a test.
FRAME = """
import json, os, sys, time
view = {}
def say(text): sys.stdout.write(text); sys.stdout.flush()
for line in sys.stdin:
    number, command, rest = (line.rstrip("\\n").split(" ", 2) + ["", ""])[:3]
    with open(LOG, "a") as log: log.write(line)
    if command == "protocol_version": say(f"={number} VERSION\\n\\n")
    elif command == "list_commands": say(f"={number} view\\nthink\\nset\\n\\n")
    elif command == "think":
        THINK
    else:
        view = json.loads(rest) if command == "view" else view
        say(f"={number}\\n\\n")
"""
LEGAL = 'say(f"={number} " + json.dumps({"move": view["moves"][0]["move"]}) + "\\n\\n")'


class ScriptedEngine:
    """A scripted engine and the log of its requests."""

    def __init__(self, folder: Path, think: str, version: str = "1", grace: float = 20) -> None:
        self.log = folder / "requests"
        script = folder / "scripted engine.py"
        text = FRAME.replace("LOG", repr(str(self.log))).replace("VERSION", version)
        script.write_text(text.replace("THINK", think), encoding="utf-8")
        self.command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
        self.player = ExternalEngine(self.command, setup_timeout=20, grace=grace)

    def choose(self, seconds: float = 0.01) -> axio.Move:
        return self.player.choose(view(), Budget(seconds), Generator(1)).move

    @property
    def requests(self) -> list[str]:
        """The commands received."""
        return [line.split(" ", 2)[1].strip() for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def close_idle_engines() -> Iterator[None]:
    yield
    for engines in _idle.values():
        while engines:
            engines.pop().close()


def view(name: str = GAMES[0]) -> View:
    return axio.new_game(name, seed=7).view(0)


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize("name", GAMES)
def test_example_engine_plays_every_game(name: str) -> None:
    engine = ExternalEngine(EXAMPLE)
    table = play_match(name, [engine, player("balanced")], "example", budget=Budget(0.01))
    assert table.result is not None
    again = play_match(name, [engine, player("balanced")], "example", budget=Budget(0.01))
    assert again.moves == table.moves  # its random numbers are seeded by the match
    engine.close()


@pytest.mark.parametrize("players", [1, 3, 4])
def test_example_engine_plays_with_1_to_4_players(players: int) -> None:
    with open_players([f"engine:{EXAMPLE}@10ms", *["random"] * (players - 1)]) as seats:
        assert play_match(GAMES[-1], seats, "more", options={"short": True}).over


def test_example_engine_takes_the_most_points() -> None:
    engine = ExternalEngine(EXAMPLE)
    choice = engine.choose(view(), Budget(), Generator(1))
    seen = view()
    most = max(sum(seen.gain(move).values()) for move in seen.legal_moves())
    assert choice.candidates[0].move == choice.move
    assert choice.candidates[0].value == (most,)
    assert choice.candidates[0].why == f"scores {most}"
    engine.close()


def test_axio_engine_is_a_player() -> None:
    with open_players([f"engine:{OURS} {GAMES[2]} --bot greedy", "greedy"]) as seats:
        table = play_match(GAMES[2], seats, "ours")
    assert table.over


def test_example_engine_is_short_and_standalone() -> None:
    text = (ROOT / "examples" / "engine.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert set(re.findall(r"^(?:import|from) (\w+)", text, re.M)) == {"json", "random", "sys"}


# ---------------------------------------------------------------- requests


@pytest.mark.parametrize("name", GAMES)
def test_engine_receives_no_hidden_tiles(name: str, tmp_path: Path) -> None:
    spies = []
    for seat in range(2):
        (tmp_path / str(seat)).mkdir()
        spies.append(ScriptedEngine(tmp_path / str(seat), LEGAL))
    table = play_match(name, [spy.player for spy in spies], "spied")
    for seat, spy in enumerate(spies):
        spy.player.close()
        known = table.view(seat).events
        lines = spy.log.read_text(encoding="utf-8").splitlines()
        views = [json.loads(line.split(" ", 2)[2]) for line in lines if line.split(" ", 2)[1] == "view"]
        others = [line for line in lines if line.split(" ", 2)[1] != "view"]
        assert all(
            re.fullmatch(r"\d+ (protocol_version|list_commands|set seed \d+|think \S+)", line)
            for line in others
        )
        assert len(views) > 5
        for received in views:
            assert received["seat"] == seat
            assert set(received["hands"][1 - seat]) <= {"?"}
            assert "?" not in received["hands"][seat]
            hands = received["position"].partition("hands=")[2].partition(" ")[0].split(";")
            assert set(hands[1 - seat].split(",")) <= {"?", "-"}
            for event, ours in zip(received["events"], known, strict=False):
                assert event == json.loads(msgspec.json.encode(ours))
                if event["t"] == "draw" and event["p"] != seat:
                    assert set(event["tiles"]) == {"?"}


def test_two_seats_never_share_a_process() -> None:
    spec = f"engine:{EXAMPLE}"
    with open_players([spec, spec]) as seats:
        assert seats[0] is not seats[1]
        play_match(GAMES[0], seats, 1)
    first = set(map(id, seats))
    with open_players([spec, spec]) as seats:
        assert set(map(id, seats)) == first  # kept for the next game


# ---------------------------------------------------------------- failures


def test_nonexistent_command() -> None:
    with pytest.raises(
        EngineTerminated, match=r"the engine '/nowhere/engine' cannot be started: No such file"
    ):
        ExternalEngine("/nowhere/engine").choose(view(), Budget(), Generator(1))


@pytest.mark.parametrize("command", ["", "   ", "'open"])
def test_invalid_command(command: str) -> None:
    with pytest.raises(InvalidPlayers):
        parse_player(f"engine:{command}")


def test_engine_is_restarted_after_a_crash(tmp_path: Path) -> None:
    mark = repr(str(tmp_path / "crashed"))
    once = f"os.path.exists({mark}) or (open({mark}, 'x'), os._exit(3)); {LEGAL}"
    engine = ScriptedEngine(tmp_path, once)
    assert engine.choose() in view().legal_moves()
    assert engine.requests.count("protocol_version") == 2
    assert engine.requests.count("think") == 2
    engine.player.close()


def test_second_crash_is_an_error(tmp_path: Path) -> None:
    engine = ScriptedEngine(tmp_path, "os._exit(3)")
    with pytest.raises(EngineTerminated, match=r"ended with exit code 3 when asked 'think 0.01s'") as caught:
        engine.choose()
    assert caught.value.command == engine.command
    assert engine.command in str(caught.value)
    assert engine.requests.count("think") == 2
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (EngineTerminated, str(caught.value))


def test_unresponsive_engine_is_killed(tmp_path: Path) -> None:
    engine = ScriptedEngine(tmp_path, "while True: time.sleep(60)", grace=0.3)
    with pytest.raises(EngineTimeout, match=r"did not answer 'think 0.01s' within 0.31 s"):
        engine.choose()


def test_children_of_an_engine_are_killed(tmp_path: Path) -> None:
    engine = ScriptedEngine(tmp_path, "import subprocess; subprocess.run(['sleep', 'infinity'])", grace=0.3)
    with pytest.raises(EngineTimeout):
        engine.choose()


def test_engine_that_does_not_read_is_killed() -> None:
    engine = ExternalEngine(
        f"{shlex.quote(sys.executable)} -c 'import time; time.sleep(60)'", setup_timeout=0.5
    )
    with pytest.raises(EngineTimeout, match="protocol_version"):
        engine.choose(view(), Budget(), Generator(1))


@pytest.mark.parametrize(
    ("think", "message"),
    [
        ("say('hello\\n\\n')", "an answer begins with =5 or [?]5"),
        ("say('=99 {}\\n\\n')", "an answer begins with =5"),
        ("say('= {}\\n\\n')", "an answer begins with =5"),
        ("say(f'={number}\\n\\n')", "answers ''"),
        ("say(f'={number} GR k8-j8\\n\\n')", "answers 'GR k8-j8'"),
        ("say(f'={number} ' + '[' * 5000 + '\\n\\n')", "answers"),
        ("say(f'={number} {{}}\\n\\n')", "move"),
        ("""say(f'={number} {{"move": "nonsense"}}\\n\\n')""", "not a move"),
        ("""say(f'={number} {{"move": "RR a1-a2"}}\\n\\n')""", "outside"),
        ("""say(f'={number} {{"move": "PP e3-f3"}}\\n\\n')""", "not in this seat's hand"),
        ("say(f'?{number} no idea\\n\\n')", "refuses 'think 0.01s': no idea"),
        ("sys.stdout.buffer.write(b'\\xff' * (1 << 21)); sys.stdout.flush()", "lines of more than"),
        ("say(f'={number} ' + 'x\\n' * 20_000)", "with more than 10000 lines or 4194304 characters"),
        ("say(f'={number} ' + ('x' * 1_000_000 + '\\n') * 9)", "with more than 10000 lines or 4194304 char"),
        ("say('\\n' * 20_000)", "answers 'think 0.01s' with empty lines only"),
        ("""say(f'={number} {{"move": "' + 'x' * 900_000 + '"}\\n\\n')""", "not a move"),
        (
            """say(f'={number} {{"move": "RR a1-a2", "candidates": ' + '[{{' * 100_000 + '\\n\\n')""",
            "answers",
        ),
        ("""say(f'={number} {{"move": 1e400}}\\n\\n')""", "answers"),
    ],
)
def test_malformed_answer_is_an_error(think: str, message: str, tmp_path: Path) -> None:
    engine = ScriptedEngine(tmp_path, think)
    with pytest.raises(EngineProtocolError, match=message) as caught:
        engine.choose()
    assert engine.command in str(caught.value)
    assert engine.requests.count("think") == 1
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000 + len(engine.command)


def test_wrong_version_or_missing_commands(tmp_path: Path) -> None:
    with pytest.raises(EngineProtocolError, match="speaks protocol version '2', not 1"):
        ScriptedEngine(tmp_path, LEGAL, version="2").choose()
    with pytest.raises(EngineProtocolError, match="an answer begins with =1"):
        ExternalEngine("cat").choose(view(), Budget(), Generator(1))
    with pytest.raises(EngineTerminated, match="ended with exit code 1"):
        ExternalEngine("false").choose(view(), Budget(), Generator(1))


def test_moves_are_accepted_in_any_spelling(tmp_path: Path) -> None:
    engine = ScriptedEngine(
        tmp_path,
        """say(f'={number} {{"move": "RO h11-i11", "candidates": [{{"move": "OR i11-h11"}}]}}\\n\\n')""",
    )
    choice = engine.player.choose(view(), Budget(0.01), Generator(1))
    assert choice.move in list(view().legal_moves())
    assert [candidate.move for candidate in choice.candidates] == [choice.move]
    engine.player.close()


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("spec", "command", "budget"),
    [
        ("engine:./mine --fast@1s", "./mine --fast", Budget(1.0)),
        ("engine:./mine", "./mine", None),
        ("engine:ssh me@host mine", "ssh me@host mine", None),
        ("engine:ssh me@host mine@50msx2", "ssh me@host mine", Budget(0.05, None, 2)),
    ],
)
def test_budget_follows_the_last_at_sign(spec: str, command: str, budget: Budget | None) -> None:
    engine = external_engine(spec)
    assert (engine.command, engine._budget, engine.name) == (command, budget, spec)


def test_simulate_accepts_engines(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    names = f"engine:{EXAMPLE}@10ms,balanced"
    ran = run("simulate", GAMES[0], "--bots", names, "--games", "3", "--out", str(file))
    assert ran.code == 0, ran.err
    assert run("verify", str(file)).out == "3 passed, 0 failed\n"
    records = [record for _, record in axio.read_records(file)]
    assert records[0].players == tuple(names.split(","))
    two = tmp_path / "two.jsonl"
    ran = run("simulate", GAMES[0], "--bots", names, "--games", "3", "--out", str(two), "--jobs", "2")
    assert ran.code == 0, ran.err
    assert two.read_bytes() == file.read_bytes()


def test_engines_exit_with_their_parent(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = tmp_path / "engine.sh"
    script.write_text(f"echo $$ >> {shlex.quote(str(pids))}\nexec {EXAMPLE}\n", encoding="utf-8")
    spec = f"engine:sh {shlex.quote(str(script))}"
    ran = spawn("simulate", GAMES[0], "--bots", f"{spec},{spec}", "--games", "2")
    assert ran.code == 0, ran.err
    with open_players([spec]) as seats:
        play_match(GAMES[2], seats, 1)
    _idle[spec].pop().close()
    started = [int(line) for line in pids.read_text(encoding="utf-8").split()]
    assert len(started) == 3  # two seats, kept for the second game, and the single one
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_simulate_reports_engine_errors() -> None:
    assert_refused(run("simulate", GAMES[0], "--bots", "engine:,random"), "engine:./my_engine")
    ran = run("simulate", GAMES[0], "--bots", "engine:/nowhere/x,random", "--games", "1")
    assert_refused(ran, "/nowhere/x", "cannot be started")


def test_engine_errors_have_a_common_base() -> None:
    assert issubclass(EngineError, axio.AxioError)
    assert {EngineTerminated, EngineTimeout, EngineProtocolError} == set(EngineError.__subclasses__())
