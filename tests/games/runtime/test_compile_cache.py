"""The compile cache: damaged files are replaced, and the cache works without a writable folder."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axiogames.games import find_variant, register_game, unregister_game
from axiogames.games.runtime import compile as compiling
from axiogames.games.runtime.compile import INTERPRETED, cache_folder
from axiogames.players import player
from axiogames.players.match import play_match

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


def thrice(number: int) -> int:
    """A function to compile, in a file because Numba reads its source."""
    return 3 * number


def compiled(folder: Path | None) -> Any:
    """Return `thrice`, compiled or loaded from a cache folder, as in a new process."""
    from numba import njit

    from axiogames.games.runtime import compile_cache

    compile_cache._warned.clear()
    function: Any = njit(thrice)
    function._cache = compile_cache.RuleCache(thrice, folder)
    assert function(14) == 42
    return function


def came_from_cache(function: Any) -> bool:
    return bool(sum(function.stats.cache_hits.values()))


def flipped(path: Path) -> None:
    """Flip a bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def another_version(path: Path) -> None:
    """Write an index of another Numba version, which is readable but has no digest."""
    import pickle

    path.write_bytes(pickle.dumps("0.1") + pickle.dumps(("stamp", {})))


def folder_instead(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "cut to one byte": lambda path: path.write_bytes(path.read_bytes()[:1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"."),
    "empty": lambda path: path.write_bytes(b""),
    "random": lambda path: path.write_bytes(random.Random(3).randbytes(2000)),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a flipped bit": flipped,
    "another version": another_version,
    "a folder": folder_instead,
    "a pipe": pipe_instead,
}


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_file_is_replaced(
    damage: Callable[[Path], object], suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not came_from_cache(compiled(tmp_path))
    assert came_from_cache(compiled(tmp_path))
    (path,) = tmp_path.glob(f"*.{suffix}")
    damage(path)
    capfd.readouterr()
    assert not came_from_cache(compiled(tmp_path))
    message = capfd.readouterr().err
    assert message.count("\n") == 1
    assert message.startswith("axio: the compile cache was damaged")
    assert path.name in message
    assert came_from_cache(compiled(tmp_path))
    assert capfd.readouterr().err == ""


TWO_GAMES = """
import sys

import numpy as np

from axiogames.games.runtime.compile import bind, bind_part, rule
from axiogames.games.runtime.signatures import loop


@rule
def seven():
    return 7


@rule
def nine():
    return 9


def answer():
    raise NotImplementedError


def part(numbers):
    numbers.sort()  # long enough not to be inlined
    numbers += answer()


def total(numbers):
    part(numbers)
    part(numbers)
    return numbers[-1]


for name in sys.argv[1:]:
    rules = {"answer": globals()[name]}
    function = bind(total, {**rules, "part": bind_part(part, rules)})
    print(function(np.zeros(3, np.int64)), sum(function.stats.cache_hits.values()))
"""


def test_symbols_of_other_processes_do_not_collide(tmp_path: Path) -> None:
    program = tmp_path / "two_games.py"
    program.write_text(TWO_GAMES)
    environment = {**os.environ, "AXIO_CACHE_DIR": str(tmp_path / "cache")}

    def printed(*names: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, str(program), *names],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    assert printed("seven") == ["14 0"]
    # One function comes from the cache, the other is compiled beside it.
    assert printed("seven", "nine") == ["14 1", "18 0"]
    assert printed("nine", "seven") == ["18 1", "14 1"]


def test_data_file_of_another_function_is_replaced(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The content has a valid digest that does not match the name of the file."""
    function = compiled(tmp_path)
    (integers,) = tmp_path.glob("*.nbc")
    assert function(0.5) == 1.5
    (floats,) = set(tmp_path.glob("*.nbc")) - {integers}
    integers.write_bytes(floats.read_bytes())
    assert not came_from_cache(compiled(tmp_path))
    assert "damaged" in capfd.readouterr().err
    assert came_from_cache(compiled(tmp_path))


def test_file_in_place_of_the_folder_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.write_bytes(b"")
    assert not came_from_cache(compiled(folder))
    assert came_from_cache(compiled(folder))


def test_invalid_pickle_with_a_valid_digest_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    compiled(tmp_path)
    (index,) = tmp_path.glob("*.nbi")
    garbage = b"not a pickle"
    index.write_bytes(hashlib.sha256(garbage).digest() + garbage)
    assert not came_from_cache(compiled(tmp_path))
    assert "damaged" in capfd.readouterr().err
    assert came_from_cache(compiled(tmp_path))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EROFS])
def test_write_errors_are_reported_once(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patched:
        patched.setattr("axiogames.games.runtime.compile_cache.write_atomic", full)
        function = compiled(tmp_path)
        assert function(0.5) == 1.5  # also compiled, without a second message
    message = capfd.readouterr().err
    assert message.count("\n") == 1
    assert f"cannot save compiled rules in {tmp_path}: {os.strerror(number)}" in message
    assert not came_from_cache(compiled(tmp_path))


def test_missing_folder_is_reported_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert not came_from_cache(compiled(None))
    assert capfd.readouterr().err.count("\n") == 1


def test_edited_source_is_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(tmp_path)
    monkeypatch.setattr("axiogames.games.runtime.compile_cache._source_digest", lambda file: "another")
    assert not came_from_cache(compiled(tmp_path))


def test_edited_game_has_a_new_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "example_game"
    shutil.copytree(Path(__file__).parents[3] / "examples" / "tiny_game", package)
    monkeypatch.syspath_prepend(tmp_path)
    register_game("example_game")
    try:
        tiny, rota = (find_variant(game).kernels.rules for game in ("tiny", "rota"))
    finally:
        unregister_game("tiny")
    tiny_folder, rota_folder = cache_folder(tiny), cache_folder(rota)
    assert tiny_folder != rota_folder
    assert cache_folder(tiny) == tiny_folder
    setup = package / "setup.py"
    setup.write_text(setup.read_text(encoding="utf-8").replace("COPIES = 4", "COPIES = 3"), encoding="utf-8")
    compiling._folder_digest.cache_clear()  # as in a new process
    assert cache_folder(tiny) != tiny_folder
    assert cache_folder(rota) == rota_folder


def test_derived_rules_have_their_own_cache_folder() -> None:
    kernels = find_variant("rota").kernels
    assert cache_folder(kernels.rules) != cache_folder(kernels.declared.without_overrides().by_name())


# ---------------------------------------------------------------- location of the cache


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path | None]:
    """Return the uncached function `cache_root`, with a home folder that is not writable."""
    file = tmp_path / "a file"
    file.write_bytes(b"")
    monkeypatch.delenv("AXIO_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(file / "home"))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return compiling.cache_root.__wrapped__


def test_cache_moves_to_a_private_temporary_folder(root: Callable[[], Path | None], tmp_path: Path) -> None:
    folder = root()
    assert folder == tmp_path / "tmp" / f"axio-{os.getuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert root() == folder
    assert list((tmp_path / "tmp").iterdir()) == [folder]


def test_folder_that_others_can_write_is_not_used(root: Callable[[], Path | None], tmp_path: Path) -> None:
    """Other users could put machine code into it."""
    found = root()
    assert found is not None
    found.chmod(0o777)
    assert root() is None
    found.rmdir()
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    found.symlink_to(private)  # the owner of the link can change its target
    assert root() is None
    found.unlink()
    found.write_bytes(b"")
    assert root() is None


def test_folder_of_another_user_is_not_used(
    root: Callable[[], Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = root()
    assert found is not None
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    found.rename(found.with_name("axio-4711"))
    assert root() is None


def test_unknown_home_is_allowed(root: Callable[[], Path | None], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert root() is not None


def test_missing_temporary_folder_disables_the_cache(
    root: Callable[[], Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    assert root() is None


# ---------------------------------------------------------------- commands


def test_command_works_with_a_damaged_cache(tmp_path: Path) -> None:
    play_match("rota", [player("random")] * 2, 0)  # compiles the loops that the command needs
    folder = cache_folder(find_variant("rota").kernels.rules)
    assert folder is not None
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*rollout_loops*", "*batch*", "*.lock"))
    files = sorted([*copy.glob("*.nbi"), *copy.glob("*.nbc")])
    damages = [DAMAGE[name] for name in ("a flipped bit", "empty", "cut off", "random")]
    for number, path in enumerate(files):
        damages[number % len(damages)](path)
    run = subprocess.run(
        [sys.executable, "-m", "axiogames", "simulate", "rota", "--games", "1", "--bots", "random,random"],
        env={**os.environ, "AXIO_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert "the compile cache was damaged" in run.stderr
    assert "Traceback" not in run.stderr
    assert "1 game" in run.stdout


def test_truncated_file_is_not_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Click treats every `EOFError` as the end of the user's input."""
    from axiogames.cli import main
    from axiogames.cli.commands import games

    def ends(name: str) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr(games, "game", ends)
    assert main(["games"]) == 2
    assert capsys.readouterr().err == "axio: unexpected end of a file: Ran out of input\n"
