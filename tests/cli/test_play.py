"""`axio play`: whole games, menus, undo, resuming, hidden hands."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pexpect
import pytest

import axiogames as axio
from axiogames import files
from axiogames.cli.terminal import session as session_module
from axiogames.cli.terminal.descriptions import describe_move, explain_result
from axiogames.cli.terminal.input import COMMANDS, parse_command, parse_move
from axiogames.cli.terminal.saved_game import SavedGame
from axiogames.cli.terminal.screen import Screen
from axiogames.cli.terminal.session import Quit, Session
from axiogames.errors import ParseError
from axiogames.games import GAMES, game
from axiogames.model.events import Draw, Exchange, redact_event
from axiogames.model.position_text import parse_unchecked
from tests.cli.test_cli import ENVIRONMENT, CommandResult, assert_refused, run

# Lines that answer every prompt: for a move, an offer, the hand-over of the screen, a confirmation.
ANSWERS = ("hint", "1", "")
WHOLE_GAME = "\n".join(ANSWERS * 400)

PLAIN = Screen(colour=False, unicode=True, width=80, height=None, terminal=False)


@pytest.fixture(autouse=True)
def fast_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make hints fast, since tests play whole games with them. No test depends on their strength."""
    monkeypatch.setattr(session_module, "HINT_ROLLOUTS", 20)


@pytest.fixture(autouse=True)
def save_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of the saved game, which does not exist yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)  # input may be taken for a file name
    return tmp_path / "data" / "axio" / "play.json"


def play(*arguments: str, text: str = "") -> CommandResult:
    return run("play", *arguments, text=text)


def typed(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize(
    ("name", "players"),
    [
        pytest.param(name, players, marks=[] if i % 2 == j % 2 else [pytest.mark.slow])
        for i, name in enumerate(GAMES)
        for j, players in enumerate(("you", "you,balanced", "you,you", "random,you"))
    ],
)
def test_a_whole_game(name: str, players: str, tmp_path: Path, save_file: Path) -> None:
    file = tmp_path / "game.jsonl"
    ran = play(name, "--seats", players, "--seed", "1", "--record", str(file), text=WHOLE_GAME)
    assert (ran.code, ran.err) == (0, "") or "compiling" in ran.err
    assert "The game is over" in ran.out
    assert f"The record is in {file}." in ran.out
    assert not save_file.exists()
    assert run("verify", str(file)).out == "1 passed, 0 failed\n"


@pytest.mark.parametrize("options", [("short",), ("children", "short")])
def test_a_whole_game_with_options(options: Sequence[str], tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    chosen = [argument for option in options for argument in ("--option", option)]
    ran = play(GAMES[-1], *chosen, "--seed", "2", "--record", str(file), text=WHOLE_GAME)
    assert ran.code == 0
    assert json.loads(file.read_text(encoding="utf-8"))["options"] == dict.fromkeys(options, True)
    assert run("verify", str(file)).code == 0


def test_the_record_is_offered(tmp_path: Path) -> None:
    name = GAMES[0]
    whole = play(name, "--seats", "you", "--seed", "1", text=WHOLE_GAME.replace("hint\n1", "moves\n1"))
    moves = whole.out.count("take it back")
    script = typed("moves", "1", "") * moves
    file = tmp_path / "games.jsonl"
    file_names = typed(str(tmp_path / "no" / "x"), str(file))
    ran = play(name, "--seats", "you", "--seed", "1", text=script + file_names)
    assert "No such file" in ran.out
    assert f"The record is in {file}." in ran.out
    assert run("verify", str(file)).out == "1 passed, 0 failed\n"
    play(name, "--seats", "you", "--seed", "1", "--record", str(file), text=script)
    assert run("verify", str(file)).out == "2 passed, 0 failed\n"
    assert len(set(file.read_text(encoding="utf-8").splitlines())) == 1


def test_the_seed_determines_the_game(tmp_path: Path) -> None:
    records = []
    for number, seed in enumerate("112"):
        file = tmp_path / str(number)
        play(GAMES[2], "--seed", seed, "--record", str(file), text=WHOLE_GAME)
        records.append(file.read_text(encoding="utf-8"))
    assert records[0] == records[1] != records[2]


# ---------------------------------------------------------------- the menu


def test_the_menu_defaults_start_a_game(save_file: Path) -> None:
    ran = play(text=typed("", ""))
    saved = json.loads(save_file.read_text(encoding="utf-8"))
    assert ran.code == 0
    assert (saved["game"], saved["players"]) == (GAMES[0], ["you", "balanced"])
    assert all(game(name).name in ran.out for name in GAMES)
    assert "Your turn" in ran.out
    assert "axio play --resume" in ran.out


def test_the_menu_accepts_numbers_and_names(save_file: Path) -> None:
    play(text=typed("9", "3", "what", "10"))
    saved = json.loads(save_file.read_text(encoding="utf-8"))
    assert (saved["game"], saved["players"]) == (GAMES[2], ["you"])
    play(text=typed("n", "3", "2"))
    saved = json.loads(save_file.read_text(encoding="utf-8"))
    assert saved["players"] == ["you", "level1"]
    assert "Please type 1, 2, 3, 4 or r" in play(text=typed("9", GAMES[-1], "greedy")).out
    saved = json.loads(save_file.read_text(encoding="utf-8"))
    assert (saved["game"], saved["players"]) == (GAMES[-1], ["you", "greedy"])


def test_the_menu_offers_the_saved_game(save_file: Path) -> None:
    play(GAMES[2], "--seed", "5", text=typed("moves", "1", ""))
    before = save_file.read_bytes()
    ran = play(text=typed("", "quit"))
    assert f"resume {game(GAMES[2]).name} (you, balanced; 2 moves)" in ran.out
    assert save_file.read_bytes() == before
    play(GAMES[0], text=typed("", "quit"))
    assert save_file.read_bytes() == before
    assert play(GAMES[0], text="").code == 0
    assert save_file.read_bytes() == before
    play(GAMES[0], text=typed("n", "quit"))
    assert json.loads(save_file.read_text(encoding="utf-8"))["game"] == GAMES[0]


# ---------------------------------------------------------------- typing


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("GR k8-j8", "GR k8-j8"),
        ("gr k8 j8", "GR k8-j8"),
        ("  gR   K8  -  J8 ", "GR k8-j8"),
        ("gr k8j8", "GR k8-j8"),
        ("rgb a1 a2 a3", "RGB a1-a2-a3"),
        ("brg_(p) 2,-1", "BRG_(P) 2,-1"),
        ("BRG_ ( p )  2, -1", "BRG_(P) 2,-1"),
        ("brg_ p 2 -1", "BRG_(P) 2,-1"),
        ("brgo -2 -1", "BRGO -2,-1"),
        ("brgo (0, 3)", "BRGO 0,3"),
        ("EXCHANGE rgb, bbr", "exchange RGB BBR"),
        ("Keep", "keep"),
        ("pass", "pass"),
    ],
)
def test_parse_move_accepts_loose_notation(text: str, move: str) -> None:
    assert str(parse_move(text)) == move


@pytest.mark.parametrize(
    "text", ["gr", "gr k8", "gr k8 9", "k8 j8", "gr 1", "gr 1,2,3", "hello", "ö", "gr k8-j8 x"]
)
def test_parse_move_refuses_other_text(text: str) -> None:
    with pytest.raises(ParseError, match="neither a move nor"):
        parse_move(text)


def test_parse_command_never_takes_a_move() -> None:
    for name, words in COMMANDS.items():
        for word in words:
            command = parse_command(f" {word.upper()}  x y ")
            assert command is not None
            assert (command.name, command.argument) == (name, "x y")
    assert parse_command("gr k8-j8") is None


def test_illegal_moves_are_refused_with_a_reason() -> None:
    view = axio.new_game(GAMES[0], 2, seed="1").view(0)
    tile = view.hand(0)[0]
    missing = next(tile for tile in view.variant.kinds if tile not in view.hand(0))
    ran = play(
        GAMES[0],
        "--seed",
        "1",
        text=typed(
            "fly away", f"{tile} a1 b1", f"{tile} e5 e6", f"{missing} g8 g9", f"{tile} g7 g8", "ZZ g8 g9"
        )
        + typed("exchange", "keep", "pass", "7", "undo", "score", f"score {tile} e5 e6", f"{tile} c8 e8"),
    )
    for reason in (
        "'fly away' is neither a move nor",
        "a1 is outside the play area",
        "a first tile must touch a printed symbol",
        f"{missing} g8-g9: the tile is not in this seat's hand",
        "g7 is a printed symbol",
        "there is no such tile",
        "exchange and keep are possible only when an exchange is offered",
        "pass: this game has no such move",
        "there is no move number 7",
        "nothing can be taken back",
        "score needs a move",
        "are not neighbours",
    ):
        assert reason in ran.out
    assert ran.code == 0


@pytest.mark.parametrize("name", GAMES)
def test_help_explains_the_legal_moves(name: str) -> None:
    view = axio.new_game(name, 2, seed="1").view(0)
    text = "\n".join(session_module.help_lines(view))
    kinds = {move.kind for move in view.legal_moves()}
    first_words = {line.split()[0] for line in text.splitlines()}
    assert str(view.legal_moves()[0]) in text
    assert ("exchange" in first_words) == ("exchange" in kinds)
    assert "keep" not in first_words
    assert set(COMMANDS) - {"help"} <= first_words
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", GAMES)
def test_moves_lists_the_best_placements_and_can_be_filtered(name: str) -> None:
    view = axio.new_game(name, 2, seed="1").view(0)
    moves, lines = session_module.list_moves(view, [])
    legal = view.legal_moves()
    points = [sum(view.gain(move).values()) for move in moves]
    assert points == sorted(points, reverse=True)
    assert points[0] == view.gains(legal).sum(axis=1).max()
    assert len(moves) <= session_module.MAX_LISTED_MOVES
    assert all(str(move) in line for move, line in zip(moves, lines, strict=False))
    cell, tile = moves[-1].at[0], moves[-1].tile
    narrowed, _ = session_module.list_moves(view, [cell.upper(), tile.lower()])
    assert narrowed
    assert all(cell in move.at for move in narrowed)
    assert {view.variant.kind_of(move.tile) for move in narrowed} == {view.variant.kind_of(tile)}
    nothing, lines = session_module.list_moves(view, ["q99"])
    assert nothing == []
    assert "no placement with q99" in lines[0]


def test_score_and_position_change_nothing() -> None:
    view = axio.new_game(GAMES[0], 2, seed="1").view(0)
    move = session_module.list_moves(view, [])[0][0]
    ran = play(GAMES[0], "--seed", "1", text=typed(f"score {move}", "position", "board", "quit"))
    gain = ", ".join(f"{points} {colour}" for colour, points in view.gain(move).items())
    assert f"{move} would score {gain}." in ran.out
    assert view.position in ran.out
    assert ran.out.count(view.text(names=("you", "balanced"))) == 2


# ---------------------------------------------------------------- undo, quitting and resuming


def test_a_placement_can_be_taken_back_before_the_draw(save_file: Path) -> None:
    ran = play(GAMES[0], "--seed", "1", text=typed("moves", "1", "what", "u", "moves", "2", "", "undo"))
    fresh = axio.new_game(GAMES[0], 2, seed="1").view(0)
    first, second = session_module.list_moves(fresh, [])[0][:2]
    assert f"You placed {first}" in ran.out
    assert f"You placed {second}" in ran.out
    assert "Press Enter to continue" in ran.out
    assert json.loads(save_file.read_text(encoding="utf-8"))["moves"][0] == str(second)
    assert "nothing can be taken back" in ran.out.splitlines()[-3]


def test_quitting_keeps_an_unconfirmed_placement(save_file: Path) -> None:
    play(GAMES[0], "--seed", "1", text=typed("moves", "1", "quit"))
    saved = json.loads(save_file.read_text(encoding="utf-8"))
    assert (len(saved["moves"]), saved["confirmed"]) == (1, False)
    assert "take it back" in play("--resume", text=typed("u")).out
    assert json.loads(save_file.read_text(encoding="utf-8"))["moves"] == []
    play("--resume", text=typed("moves", "1"))
    play("--resume", text=typed(""))
    assert len(json.loads(save_file.read_text(encoding="utf-8"))["moves"]) == 2


def test_an_extra_placement_can_be_taken_back_before_a_draw() -> None:
    """In a turn with two placements and no draw between them, undo reaches the first."""
    table, seat = _before_extra_placement()
    session = _session(table)
    move = _extra_move(table, seat)
    output = _run_session(session, [str(move), "undo", "quit"])
    assert "your turn again" in output.lower()
    assert session.table.position == table.position


@pytest.mark.parametrize(
    "name", [*GAMES[::2], *(pytest.param(name, marks=pytest.mark.slow) for name in GAMES[1::2])]
)
def test_resuming_anywhere_gives_the_same_game(name: str, tmp_path: Path, save_file: Path) -> None:
    at_once, in_parts = tmp_path / "at_once", tmp_path / "in_parts"
    play(name, "--seed", "9", "--record", str(at_once), text=WHOLE_GAME)
    script = itertools.cycle(ANSWERS)
    arguments: tuple[str, ...] = (name, "--seed", "9")
    while not in_parts.exists():
        # The list of moves is not saved, so a part never starts between a list and its number.
        part = typed(*itertools.islice(script, 12), *(["hint"] if arguments[0] == "--resume" else []))
        ran = play(*arguments, "--record", str(in_parts), text=part)
        assert ran.code == 0, ran
        arguments = ("--resume",)
    assert in_parts.read_bytes() == at_once.read_bytes()
    assert not save_file.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("play/1", "play/9"),
        lambda text: text.replace("you", "nobody"),
        lambda text: text.replace('"you"', '"greedy"'),
        lambda text: text.replace(GAMES[0], "chess"),
        lambda text: re.sub(r'"moves":\["[A-Z]+', '"moves":["ZZ', text),
        lambda text: text.replace('"moves":[', '"moves":["keep",'),
    ],
)
@pytest.mark.parametrize("arguments", [("--resume",), (), (GAMES[1],)])
def test_a_damaged_saved_game_is_reported_and_kept(
    damage: Callable[[str], str], arguments: Sequence[str], save_file: Path
) -> None:
    play(GAMES[0], "--seed", "1", text=typed("moves", "1", ""))
    damaged = damage(save_file.read_text(encoding="utf-8"))
    save_file.write_text(damaged, encoding="utf-8")
    assert_refused(play(*arguments), str(save_file), "delete the file or move it away")
    assert save_file.read_text(encoding="utf-8") == damaged


def test_a_saved_game_must_be_a_regular_file_of_bounded_size(save_file: Path) -> None:
    save_file.parent.mkdir(parents=True)
    os.mkfifo(save_file)
    assert_refused(play("--resume"), str(save_file), "not a regular file")
    save_file.unlink()
    save_file.symlink_to("/dev/zero")
    assert_refused(play("--resume"), str(save_file), "not a regular file")
    save_file.unlink()
    save_file.write_bytes(b" " * (files.MAX_LINE_BYTES + 1))
    assert_refused(play("--resume"), str(save_file), "more than the limit of")


def test_an_unwritable_saved_game_is_reported(save_file: Path) -> None:
    save_file.parent.parent.mkdir()
    save_file.parent.write_text("in the way", encoding="utf-8")
    assert_refused(play(GAMES[0], "--seed", "1"), "play.json")


# ---------------------------------------------------------------- hidden information


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plies", [0, 6])
def test_output_does_not_depend_on_hidden_tiles(name: str, plies: int) -> None:
    """Tables that differ only in hands of others give the same output, byte for byte, for all commands."""
    table = axio.new_game(name, 2, seed="3")
    for _ in range(plies):
        table.play(max(table.legal_moves(), key=lambda move: (move.kind == "place", str(move))))
    twin = _twin(table)
    seat = table.turn
    assert seat is not None
    assert twin.turn == seat
    assert twin.view(1 - seat).position != table.view(1 - seat).position
    move = next(move for move in table.legal_moves() if move.kind == "place")
    script = ["", "?", "moves", "hint", "position", "board", f"score {move}", "undo", "5", "ZZ a1 a2"]
    output, twin_output = (_run_session(_session(t), [*script, str(move), "?"]) for t in (table, twin))
    assert output == twin_output
    assert "hidden" in output


def _twin(table: axio.Table) -> axio.Table:
    """Return the same table, except that the seat which is not to move holds another tile."""
    assert table.turn is not None
    other = 1 - table.turn
    record = axio.record_of(table)
    draws = [n for n, event in enumerate(table.events) if isinstance(event, Draw) and event.p == other]
    for held, unseen in itertools.product(table.hand(other), table.unseen):
        where = next(n for n in reversed(draws) if held in table.events[n].tiles)  # type: ignore[union-attr]
        event = table.events[where]
        assert isinstance(event, Draw)
        at = event.tiles.index(held)
        tiles = (*event.tiles[:at], unseen, *event.tiles[at + 1 :])
        events = (*table.events[:where], Draw(other, tiles, event.source), *table.events[where + 1 :])
        try:
            twin = axio.replay(msgspec.structs.replace(record, events=events))
        except axio.AxioError:
            continue  # whether an exchange was offered depends on the hand
        if held != unseen and twin.turn == table.turn:
            return twin
    raise AssertionError("no other tile could have been drawn")


def _session(table: axio.Table) -> Session:
    """Return a session between people that has reached this table."""
    seats = ("you",) * table.players
    session = Session(
        SavedGame(game=table.game, players=seats, options=tuple(table.options), seed="s"), PLAIN
    )
    session.table = table.copy()
    return session


def _run_session(session: Session, lines: Sequence[str]) -> str:
    """Return all output of a session for these input lines, after Enter at the hand-over of the screen."""
    output: list[str] = []
    script = iter(["", *lines])

    def ask(prompt: str) -> str:
        output.append(prompt)
        line: str | None = next(script, None)
        if line is None:
            raise EOFError
        return line

    session._read_line = ask
    screen = _RecordingScreen(output)
    session._screen = screen  # type: ignore[assignment]
    with pytest.raises(Quit):
        session.run()
    return "\n".join(output)


class _RecordingScreen:
    """A screen that keeps its output."""

    def __init__(self, output: list[str]) -> None:
        self._output = output
        self.width = PLAIN.width
        self.height = None
        self.render = PLAIN.render
        self.render_orientations = PLAIN.render_orientations

    def print(self, text: str = "") -> None:
        self._output.append(text)

    def clear(self, *, scrollback: bool = False) -> None:
        self._output.append("---")


def _before_extra_placement() -> tuple[axio.Table, int]:
    """Return a table whose seat to move can reach the cap, and so gets an extra turn."""
    for table in _greedy_tables():
        if table.turn is not None and _extra_move(table, table.turn) is not None:
            return table, table.turn
    raise AssertionError("no seat reached the cap")


def _greedy_tables() -> Iterator[axio.Table]:
    for seed in range(20):
        table = axio.new_game(GAMES[0], 2, seed=seed)
        while table.turn is not None:
            yield table.copy()
            legal = table.legal_moves()
            table.play(legal[int(table.gains(legal).sum(axis=1).argmax())])


def _extra_move(table: axio.Table, seat: int) -> axio.Move | None:
    legal = table.legal_moves()
    after = table.gains(legal) + list(table.scores[seat].values())
    for n in (after.max(axis=1) == table.variant.cap).nonzero()[0].tolist():
        trial = table.copy()
        trial.play(legal[n], deal=False)
        if trial.turn == seat and any(move.kind == "place" for move in trial.legal_moves()):
            return legal[int(n)]
    return None


def test_a_hidden_exchange_is_described_without_its_tiles() -> None:
    event = Exchange(1, ("RGB", "BBR"))
    hidden, public = (redact_event(event, 0, is_public) for is_public in (False, True))
    assert isinstance(hidden, Exchange)
    assert isinstance(public, Exchange)
    assert describe_move(hidden) == "exchanged 2 tiles"
    assert describe_move(public) == "exchanged RGB BBR"


# ---------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("rows", "explanation"),
    [
        (
            "18,7,9,18,11;8,18,7,10,18",
            "a wins, ahead of b: equal so far (7), then 9 beats 8 at the second lowest.",
        ),
        ("5,5,5,5,9;5,5,5,5,8", "a wins, ahead of b: equal so far (5 5 5 5), then 9 beats 8 at the highest."),
        ("4,9,9,9,9;5,5,5,5,5", "b wins, ahead of a: 5 beats 4 at the lowest."),
        ("4,5,6,7,8;8,7,6,5,4", "a and b share the victory."),
    ],
)
def test_the_comparison_is_explained(rows: str, explanation: str) -> None:
    table = axio.new_game(GAMES[0], 2, seed=1)
    text = re.sub(r"scores=\S+", f"scores={rows}", table.position).replace("phase=place", "phase=over")
    lines = explain_result(axio.Position(*parse_unchecked(text)), ("a", "b"))
    assert lines[-1] == explanation
    assert "Points, each player's lowest first:" in lines[0]


def test_results_with_a_single_track_compare_points() -> None:
    table = axio.new_game(GAMES[-1], 3, seed=1)
    text = re.sub(r"scores=\S+", "scores=12;30;30", table.position).replace("phase=place", "phase=over")
    assert explain_result(axio.Position(*parse_unchecked(text)), ("a", "b", "you")) == [
        "The game is over. Points:",
        "  1.  b    30",
        "  1.  you  30",
        "  3.  a    12",
        "b and you share the victory.",
        "you are ahead of a: 30 beats 12.",
    ]


# ---------------------------------------------------------------- in a real terminal


def _terminal(*arguments: str, size: tuple[int, int] = (24, 80)) -> pexpect.spawn[str]:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "axiogames", "play", *arguments],
        env={**ENVIRONMENT, "TERM": "xterm-256color", "XDG_DATA_HOME": os.environ["XDG_DATA_HOME"]},
        dimensions=size,
        encoding="utf-8",
        timeout=120,
    )
    child.delaybeforesend = None
    return child


def test_a_terminal_shows_colours_and_ctrl_c_quits(save_file: Path) -> None:
    child = _terminal(GAMES[0], "--seed", "1")
    child.expect(r"\x1b\[2J")
    child.expect(r"48;5;\d+")
    child.expect("> ")
    child.sendline("moves")
    child.expect("  1  ")
    child.expect("> ")
    child.sendintr()
    child.expect("axio: interrupted; the game is saved: axio play --resume")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert save_file.exists()


def test_people_at_a_shared_screen_never_see_each_others_hands(save_file: Path) -> None:
    table = axio.new_game(GAMES[-1], 2, seed="1")
    hands = [" ".join(table.hand(seat)) for seat in range(2)]
    child = _terminal(GAMES[-1], "--seats", "you,you", "--seed", "1", size=(60, 100))
    child.expect("you 1: press Enter when nobody else is looking")
    before = _before(child)
    child.sendline("")
    child.expect("you 1, your turn")
    first_screen = _before(child)
    child.sendline("moves")
    child.sendline("1")
    child.expect("take it back")
    child.sendline("")
    child.expect("you 2: press Enter when nobody else is looking")
    assert _before(child).rstrip().endswith("\x1b[2J\x1b[H\x1b[3J"), (
        "the screen is cleared before the hand-over"
    )
    child.sendline("")
    child.expect("you 2, your turn")
    second_screen, news = _before(child).split("you 1 placed")
    child.close(force=True)
    assert _tiles_shown(before, table) == set()
    assert _tiles_shown(first_screen, table) == set(hands[0].split())
    assert _tiles_shown(second_screen, table) == set(hands[1].split())
    assert len(_tiles_shown(news, table)) == 1, "only the tile that was placed"


def _before(child: pexpect.spawn[str]) -> str:
    """Return the output before the expected text."""
    assert isinstance(child.before, str)
    return child.before


def _tiles_shown(text: str, table: axio.Table) -> set[str]:
    bare = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", text)
    return {tile for tile in table.variant.kinds if re.search(rf" {tile}\b", bare)}


def test_an_account_without_a_home_directory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert_refused(run("play", GAMES[0]), "set XDG_DATA_HOME")


@pytest.mark.parametrize("number", ["9" * 5000, "٣", "²", "1" * 10])
def test_a_number_out_of_range_is_refused(number: str) -> None:
    ran = run("play", GAMES[0], "--seats", "you", "--seed", "1", text=f"moves\n{number}\n")
    assert ran.code == 0, ran
    assert "is neither a move" in ran.out or "there is no move number" in ran.out
