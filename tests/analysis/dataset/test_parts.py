"""Datasets interrupted and gone on with: the same file in the end, and never half of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from axiogames.analysis.dataset import facts, points, read, states
from axiogames.analysis.dataset import generate as run_module
from axiogames.analysis.dataset import parts as parts_module
from axiogames.analysis.dataset.generate import make, play_left, write
from axiogames.analysis.dataset.parts import SETTINGS, Stretch, parts
from axiogames.analysis.dataset.schema import KEY
from axiogames.analysis.dataset.settings import Settings, checked
from axiogames.errors import InvalidFile, InvalidOption, MissingDependency, SettingsMismatch
from axiogames.games import GAMES


def wanted(**change: Any) -> Settings:
    """Settings of a small dataset."""
    return checked(**{"game": GAMES[0], "bots": ["random"], "games": 9, "noise": 0.1, **change})


def make_some(settings: Settings, out: Path, count: int) -> Path:
    """Make some parts as if somebody had then stopped; the folder they are in."""
    with parts(settings, out) as kept, closing(play_left(kept)) as made:
        for part in islice(made, count):
            kept.add(part)
        return kept.folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of two games and row groups of four."""
    monkeypatch.setattr(run_module, "MOST", 2)
    monkeypatch.setattr(parts_module, "GROUP", 4)


@pytest.mark.usefixtures("small")
def test_it_is_the_same_file_wherever_it_was_interrupted(tmp_path: Path) -> None:
    settings, whole, out = wanted(), tmp_path / "whole", tmp_path / "out"
    write(settings, whole)
    for count in (1, 2, 4, 5):
        folder = make_some(settings, out, count)
        assert not out.exists()
        assert len(list(folder.glob("*.parquet"))) == count
        assert write(settings, out) == len(read(whole))
        assert out.read_bytes() == whole.read_bytes()
        assert not folder.exists()
        out.unlink()


@pytest.mark.usefixtures("small")
def test_it_is_the_same_file_however_it_was_cut(tmp_path: Path) -> None:
    settings = wanted()
    write(settings, tmp_path / "whole")
    with parts(settings, tmp_path / "out") as kept:
        for stretch in (Stretch(7, 9), Stretch(0, 3), Stretch(4, 7), Stretch(3, 4)):
            kept.add(make(settings, stretch))
        assert (list(kept.left()), kept.games) == ([], 9)
        kept.join()
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.usefixtures("small")
def test_row_groups_hold_whole_games(tmp_path: Path) -> None:
    write(wanted(), tmp_path / "out")
    file = pq.ParquetFile(tmp_path / "out")
    games = [set(file.read_row_group(n)["game"].to_pylist()) for n in range(file.num_row_groups)]
    assert games == [{0, 1, 2, 3}, {4, 5, 6, 7}, {8}]


@pytest.mark.usefixtures("small")
def test_it_is_the_same_file_for_any_number_of_jobs(tmp_path: Path) -> None:
    settings = wanted(game=GAMES[2], players=3, bots=["greedy", "random"], legal=True)
    write(settings, tmp_path / "one")
    make_some(settings, tmp_path / "two", 2)
    write(settings, tmp_path / "two", jobs=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_another_seed_gives_other_rows(tmp_path: Path) -> None:
    write(wanted(), tmp_path / "one")
    write(wanted(seed="other"), tmp_path / "two")
    assert not read(tmp_path / "one").equals(read(tmp_path / "two"))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("game", {"game": GAMES[1]}),
        ("players", {"players": 3}),
        ("bots", {"bots": ["greedy"]}),
        ("seed", {"seed": "other"}),
        ("games", {"games": 10}),
        ("noise", {"noise": 0.2}),
        ("legal", {"legal": True}),
    ],
)
def test_other_settings_are_refused_and_named(name: str, change: dict[str, Any], tmp_path: Path) -> None:
    folder = make_some(wanted(), tmp_path / "out", 1)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SettingsMismatch, match=f"another setting of {name}: "):
        write(wanted(**change), tmp_path / "out")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_other_options_and_another_version_are_refused(tmp_path: Path) -> None:
    make_some(wanted(game=GAMES[-1]), tmp_path / "out", 1)
    with pytest.raises(SettingsMismatch, match=r'options: \[\] there, \["short"\] now'):
        write(wanted(game=GAMES[-1], options=["short"]), tmp_path / "out")
    folder = make_some(wanted(), tmp_path / "two", 1)
    old = (
        (folder / SETTINGS)
        .read_text(encoding="utf-8")
        .replace(f'"version":"{wanted().version}"', '"version":"0.0.1"')
    )
    (folder / SETTINGS).write_text(old, encoding="utf-8")
    with pytest.raises(SettingsMismatch, match=r'version: "0\.0\.1" there'):
        write(wanted(), tmp_path / "two")


def test_settings_without_parts_stand_in_nobodys_way(tmp_path: Path) -> None:
    folder = tmp_path / "out.parts"
    with parts(wanted(), tmp_path / "out"):
        assert folder.exists()
    assert not folder.exists()
    folder.mkdir()
    (folder / SETTINGS).write_text("{}", encoding="utf-8")
    write(wanted(games=1), tmp_path / "out")
    assert read(tmp_path / "out")["game"].to_pylist()[-1] == 0


# ---------------------------------------------------------------- the final name


def test_a_finished_file_is_not_replaced_unless_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(wanted(games=1), out)
    before = out.read_bytes()
    with pytest.raises(InvalidFile, match="the file exists; --force replaces it"):
        write(wanted(games=2), out)
    assert not (tmp_path / "out.parts").exists()
    settings = wanted(games=2)
    with parts(settings, out, force=True) as kept:
        kept.add(make(settings, Stretch(0, 2)))
        assert out.read_bytes() == before
        kept.join()
    assert facts(out).settings == settings


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    settings, out = wanted(games=1), tmp_path / "out"
    with parts(settings, out) as kept:
        kept.add(make(settings, Stretch(0, 1)))
        out.write_text("somebody else's", encoding="utf-8")
        with pytest.raises(InvalidFile, match="the file exists"):
            kept.join()
    assert out.read_text(encoding="utf-8") == "somebody else's"
    out.unlink()
    assert write(settings, out) == kept.positions


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_joining_that_fails_leaves_no_file(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, out = wanted(games=2), tmp_path / "out"
    write(settings, tmp_path / "whole")
    make_some(settings, out, 2)

    def fail(*arguments: Any) -> None:
        raise OSError("no room")

    with monkeypatch.context() as broken:
        broken.setattr(os, moment, fail)
        with pytest.raises(OSError, match="no room"):
            write(settings, out)
    assert not out.exists()
    write(settings, out)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(wanted(games=1), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(read(tmp_path / "target"))


def test_what_cannot_become_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="standard output"):
        write(wanted(), "-")
    with pytest.raises(InvalidFile, match="this is none"):
        write(wanted(), tmp_path)
    (tmp_path / "out.parts").write_text("", encoding="utf-8")
    with pytest.raises(InvalidFile, match="kept in a folder"):
        write(wanted(), tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        write(wanted(), tmp_path / "no" / "folder")


def test_two_programs_do_not_make_one_file(tmp_path: Path) -> None:
    with (
        parts(wanted(), tmp_path / "out"),
        pytest.raises(InvalidFile, match="another program is writing here"),
    ):
        write(wanted(), tmp_path / "out")


# ---------------------------------------------------------------- damage


def truncate(folder: Path) -> None:
    path = next(folder.glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-9])


def garble(folder: Path) -> None:
    path = next(folder.glob("*.parquet"))
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    path.write_bytes(bytes(content))


def replace(folder: Path) -> None:
    pq.write_table(pa.table({"game": [0]}), next(folder.glob("*.parquet")))


def overlap(folder: Path) -> None:
    path = next(folder.glob("*.parquet"))
    (folder / "000000000-000000003.parquet").write_bytes(path.read_bytes())


def overrun(folder: Path) -> None:
    path = next(folder.glob("*.parquet"))
    path.rename(folder / "000000000-000000999.parquet")


@pytest.mark.parametrize("damage", [truncate, garble, replace, overlap, overrun])
def test_a_damaged_part_is_named(damage: Callable[[Path], None], tmp_path: Path) -> None:
    settings, out = wanted(games=3), tmp_path / "out"
    damage(make_some(settings, out, 1))
    with pytest.raises(InvalidFile, match=r"\d-\d+\.parquet: not a part of this dataset; remove it"):
        write(settings, out)
    assert not out.exists()


def test_damaged_settings_are_said(tmp_path: Path) -> None:
    folder = make_some(wanted(), tmp_path / "out", 1)
    (folder / SETTINGS).write_text("nonsense", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not the settings of a dataset"):
        write(wanted(), tmp_path / "out")
    (folder / SETTINGS).unlink()
    with pytest.raises(InvalidFile, match="parts without their settings"):
        write(wanted(), tmp_path / "out")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "no dataset of ours"),
        ({KEY: b"nonsense"}, "metadata is damaged"),
        ({KEY: b'{"format":"axio-dataset/1"}'}, "metadata is damaged"),
        ({KEY: b'{"format":"axio-dataset/9"}'}, "'axio-dataset/9', but only 'axio-dataset/1'"),
    ],
)
def test_other_files_are_not_taken_for_ours(metadata: dict[bytes, bytes], words: str, tmp_path: Path) -> None:
    table = pa.table({"state": [b"x"]}).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "other")
    with pytest.raises(InvalidFile, match=words):
        read(tmp_path / "other")
    with pytest.raises(InvalidFile, match=words):
        states(table)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="nowhere: No such file"):
        read(tmp_path / "nowhere")
    (tmp_path / "text").write_text("text", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not a file of Parquet"):
        read(tmp_path / "text")
    write(wanted(games=1), tmp_path / "out")
    with pytest.raises(InvalidOption, match=r"has no column colour: choose from game, ply, "):
        read(tmp_path / "out", ["game", "colour"])
    with pytest.raises(InvalidOption, match="the table has no column scores: it has game"):
        points(read(tmp_path / "out", ["game"]))


@pytest.mark.parametrize("module", ["pyarrow", "pyarrow.parquet"])
def test_without_pyarrow_that_is_said(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for use in (lambda: write(wanted(), tmp_path / "out"), lambda: read(tmp_path / "out")):
        with pytest.raises(MissingDependency, match=r'pyarrow is required .*pip install "\.\[data\]"'):
            use()
    assert list(tmp_path.iterdir()) == []
