"""Bounds on work and input, and errors of files and streams, which name them."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axiogames as axio
from axiogames import parallel
from axiogames.errors import AxioError, InvalidFile, ParseError
from axiogames.files import append_line, write_atomic
from axiogames.games import GAMES, find_variant
from axiogames.model.record import record_of
from axiogames.parallel import MIN_PROCESSES, map_ordered
from axiogames.players.evaluation.weights import (
    MAX_ENTRIES,
    load_weights,
    read_entries,
    read_weights,
    write_entries,
    write_weights,
)
from axiogames.players.search.rollouts import read_config
from axiogames.rng import Generator, commitment
from tests.cli.test_cli import ENVIRONMENT, assert_refused, run

RULES = "rota"

# ---------------------------------------------------------------- processes


class CountedWorker:
    """Replacement for a worker process: works in this process, and counts starts and ends."""

    started = 0
    ended = 0

    def __init__(self, context: Any, function: Callable[[Any], Any]) -> None:
        type(self).started += 1
        self.pipe: Any = self
        self.piece_index = 0
        self._function = function
        self._piece: Any = None

    def send(self, piece_index: int, piece: Any) -> None:
        self.piece_index, self._piece = piece_index, piece

    def receive(self) -> Any:
        return self._function(self._piece)

    def kill(self) -> None:
        type(self).ended += 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[CountedWorker]:
    class Fresh(CountedWorker):
        pass

    monkeypatch.setattr(parallel, "_Worker", Fresh)
    monkeypatch.setattr(parallel, "wait", lambda pipes, timeout: pipes[:1])
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    return Fresh


@pytest.mark.parametrize("pieces", [0, 1, 2, 5, 1000])
@pytest.mark.parametrize("jobs", [2, 200, 100_000])
def test_processes_are_bounded_by_pieces_and_cores(
    pieces: int, jobs: int, counted: type[CountedWorker]
) -> None:
    assert list(map_ordered(abs, range(-pieces, 0), jobs)) == list(range(pieces, 0, -1))
    assert counted.started == counted.ended <= min(pieces, jobs, MIN_PROCESSES)


def test_pieces_are_read_lazily(counted: type[CountedWorker]) -> None:
    read: list[int] = []

    def pieces() -> Iterator[int]:
        for n in range(10_000):
            read.append(n)
            yield n

    results = map_ordered(abs, pieces(), 4)
    assert next(results) == 0
    assert len(read) <= 4 * parallel.LOOKAHEAD + 1
    results.close()
    assert counted.started == counted.ended


def test_one_record_needs_one_process(tmp_path: Path, counted: type[CountedWorker]) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(record_of(axio.new_game(RULES, seed=1)).to_json() + "\n", encoding="utf-8")
    assert run("verify", str(file), "--jobs", "200").code == 0
    assert counted.started == 1


# ---------------------------------------------------------------- positions and seeds


@pytest.mark.parametrize("name", GAMES)
def test_hint_accepts_a_position_as_argument(name: str) -> None:
    position = axio.new_game(name, seed=1).position
    ran = run("hint", position, "--rollouts", "100", "--json")
    assert ran.code == 0, ran
    assert json.loads(ran.out)["suggestions"]


def test_a_position_is_not_taken_for_a_file() -> None:
    position = axio.new_game(RULES, seed=1).position
    assert len(position) > 255
    assert "/" not in position
    assert_refused(run("hint", position[:-1] + "x"), "position")
    assert_refused(run("hint", "x" * 5000), "File name too long")


def test_hint_reads_one_bounded_line(monkeypatch: pytest.MonkeyPatch) -> None:
    position = axio.new_game(RULES, seed=1).position
    assert run("hint", "-", "--rollouts", "100", text=f"\n{position}\nrest\n").code == 0
    assert_refused(run("hint", "-", text="="), "position")
    assert_refused(run("hint", "-"), "standard input")
    monkeypatch.setattr("axiogames.files.MAX_LINE_BYTES", 1000)
    monkeypatch.setattr("axiogames.cli.commands.hint.MAX_LINE_BYTES", 1000)
    assert_refused(run("hint", "-", text="x" * 3000), "longer than 1000 bytes")


@pytest.mark.parametrize("seed", ["x\udcffy", "\ud800", 10**5000], ids=["bytes", "half", "huge"])
def test_an_invalid_seed_is_refused(seed: Any) -> None:
    for use in (
        lambda: axio.new_game("axio", seed=seed),
        lambda: Generator(seed),
        lambda: commitment(seed),
        lambda: axio.Table(find_variant("axio", 2), seed),
    ):
        with pytest.raises(ParseError, match="the seed is "):
            use()


def test_seeds_give_the_same_games_as_before() -> None:
    """Seeds lead to the same deals in all versions."""
    assert Generator("seven").bits() == Generator("seven").bits()
    assert [Generator(7).randint(1000), Generator("é").randint(1000)] == [
        Generator("7").randint(1000),
        Generator("\u00e9").randint(1000),
    ]
    assert commitment("seven")[:16] == "3ba8d02b16fd2a01"


# ---------------------------------------------------------------- training


def write_damaged(path: Path, kind: str) -> None:
    """Write a file that is not a weights file, or a weights file with an error."""
    two = find_variant(RULES, 2)
    write_weights(two, load_weights(two), path)
    if kind in ("text", "empty", "cut", "array", "bomb", "pickle"):
        whole = path.read_bytes()
        content = {"text": b"no weights\n", "empty": b"", "cut": whole[: len(whole) // 2]}.get(kind)
        if content is not None:
            path.write_bytes(content)
        elif kind == "array":
            with path.open("wb") as file:
                np.save(file, np.zeros(3))
        elif kind == "pickle":
            with path.open("wb") as file:
                np.savez(file, **{"2.knobs": np.array([object()], object)}, allow_pickle=True)
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("2.knobs.npy", b"\0" * (MANY + 1))
        return
    utility_params: dict[str, Any] = {
        "shape": np.zeros(99, np.float32),
        "kind": np.array(["x"] * 6),
        "nan": np.full_like(load_weights(two)["utility_params"][0], np.nan),
    }
    write_entries({"2.knobs": utility_params[kind]}, path)


MANY = 1 << 16
KINDS = ("text", "empty", "cut", "array", "bomb", "pickle", "shape", "kind", "nan")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_weights_file_is_refused_before_any_work_and_kept(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axiogames.players.evaluation.weights.MAX_ENTRY_BYTES", MANY)
    path = tmp_path / "t.npz"
    write_damaged(path, kind)
    before = path.read_bytes()
    with pytest.raises(InvalidFile, match=r"t\.npz"):
        read_weights(find_variant(RULES, 2), path)
    for more in ((), ("--resume",)):
        assert_refused_only(
            run("train", RULES, "--quick", "--rounds", "1", "--out", str(path), *more), "t.npz"
        )
    assert path.read_bytes() == before


def save_many(path: Path, entries: int, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(entries):
            archive.writestr(f"{number}.npy", content)


def array_of(size: int) -> bytes:
    file = io.BytesIO()
    np.save(file, np.zeros(size, np.uint8))
    return file.getvalue()


def test_a_weights_file_has_a_bounded_number_of_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = tmp_path / "t.npz", list[str]()
    save_many(path, MAX_ENTRIES, array_of(1))
    assert len(read_entries(path)) == MAX_ENTRIES
    save_many(path, MAX_ENTRIES + 1, array_of(1))
    monkeypatch.setattr("zipfile.ZipFile.open", lambda archive, info: read.append(info.filename))
    message = rf"t\.npz: {MAX_ENTRIES + 1} entries, but the limit is {MAX_ENTRIES}"
    for use in (lambda: read_weights(find_variant(RULES, 2), path), lambda: write_entries({}, path)):
        with pytest.raises(InvalidFile, match=message):
            use()
    assert read == []


def test_a_weights_file_has_a_bounded_unpacked_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.npz"
    monkeypatch.setattr("axiogames.players.evaluation.weights.MAX_TOTAL_BYTES", 10 * MANY)
    save_many(path, 9, array_of(MANY))
    assert len(read_entries(path)) == 9
    save_many(path, 10, array_of(MANY))
    with pytest.raises(InvalidFile, match=rf"t\.npz: the entries are longer than {10 * MANY} bytes in total"):
        read_entries(path)


def test_a_damaged_rollout_config_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    for config in (np.zeros(4), np.zeros(3), np.full(4, np.nan), np.array(["x"] * 4)):
        write_entries({"2.hurried": config}, path)
        with pytest.raises(InvalidFile, match="rollout config"):
            read_config(find_variant(RULES, 2), "hurried", path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_training_reports_an_unwritable_file_at_once(tmp_path: Path) -> None:
    train = ("train", RULES, "--quick", "--rounds", "1", "--out")
    assert_refused_only(run(*train, "/dev/full"), "/dev/full: not a regular file")
    assert_refused_only(run(*train, str(tmp_path)), "this is a folder")
    assert_refused_only(run(*train, str(tmp_path / "none" / "t.npz")), "does not exist")
    assert os.path.exists("/dev/full")
    assert not os.path.isfile("/dev/full")
    assert list(tmp_path.iterdir()) == []


def test_training_leaves_no_other_files(tmp_path: Path) -> None:
    (tmp_path / "t.tmp").write_text("mine", encoding="utf-8")
    two = find_variant(RULES, 2)
    write_weights(two, load_weights(two), tmp_path / "t.npz")
    assert (tmp_path / "t.tmp").read_text(encoding="utf-8") == "mine"
    field = "hidden_weights"
    assert np.array_equal(read_weights(two, tmp_path / "t.npz")[field], load_weights(two)[field])


def assert_refused_only(ran: Any, *words: str) -> None:
    assert_refused(ran, *words)
    assert "Traceback" not in ran.err


# ---------------------------------------------------------------- full disks and closed streams


@contextmanager
def small_files() -> Iterator[None]:
    """Limit files to 100 bytes inside the block, as on a full disk.

    Use it around the tested call only: the limit also holds for standard output, if it is a file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_an_error_of_a_full_disk_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "whole"
    for write in (write_atomic, lambda path, content: append_line(path, content.decode())):
        with pytest.raises(OSError, match="File too large") as caught, small_files():
            write(path, b"x" * 1000)
        assert caught.value.errno == errno.EFBIG
        assert caught.value.filename == str(path)
        assert list(tmp_path.iterdir()) == []


def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    append_line(path, "x" * 50)
    with pytest.raises(OSError, match="File too large"), small_files():
        append_line(path, "y" * 500)
    assert path.read_text(encoding="utf-8") == "x" * 50 + "\n"


def test_append_line_completes_a_line_without_line_break(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("one", encoding="utf-8")
    append_line(path, "two")
    append_line(path, "three")
    assert path.read_text(encoding="utf-8") == "one\ntwo\nthree\n"


@pytest.mark.parametrize("name", ["a\0b", "\ud800", ""])
def test_an_invalid_file_name_is_refused(name: str) -> None:
    for write in (
        lambda: write_atomic(name, b""),
        lambda: append_line(name, ""),
        lambda: list(axio.read_records(name)),
    ):
        with pytest.raises(AxioError):
            write()


@pytest.mark.parametrize("command", ["show --svg OUT", "review --rollouts 100 --html OUT"])
def test_an_error_of_writing_a_picture_names_the_file(command: str, tmp_path: Path) -> None:
    table = axio.new_game(RULES, seed=1)
    table.play(table.legal_moves()[0])
    games = tmp_path / "games.jsonl"
    games.write_text(record_of(table).to_json() + "\n", encoding="utf-8")
    words = command.replace("OUT", str(tmp_path / "out")).split()
    with small_files():
        ran = run(words[0], str(games), *words[1:])
    assert_refused(ran, f"{tmp_path / 'out'}: File too large")


CLOSED = """
import os, sys
for fd in map(int, sys.argv[1].split(",")):
    os.close(fd)
os.execv(sys.executable, [sys.executable, "-m", "axiogames", *sys.argv[2:]])
"""


@pytest.mark.parametrize(
    "closed", ["0,1,2", *(pytest.param(stream, marks=pytest.mark.slow) for stream in "012")]
)
def test_commands_run_with_closed_streams(closed: str, tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    games.write_text(record_of(axio.new_game(RULES, seed=1)).to_json() + "\n", encoding="utf-8")
    before = games.read_bytes()
    commands = [(("games",), 0), (("verify", str(games)), 0), (("verify", "-"), 2)]
    for words, code in commands:
        done = subprocess.run(
            [sys.executable, "-c", CLOSED, closed, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == code, (words, done)
        assert "Traceback" not in done.stderr
    assert games.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_standard_output_is_reported() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "axiogames", "games"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            check=False,
            encoding="utf-8",
        )
    assert done.returncode == 2
    assert done.stderr == "axio: standard output: No space left on device\n"
