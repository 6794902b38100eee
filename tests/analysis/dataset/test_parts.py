"""Interrupted datasets: resumed runs give the same file, and no partial file is ever visible."""

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

from axiogames.analysis.dataset import column_array, metadata, read, states
from axiogames.analysis.dataset import generate as generate_module
from axiogames.analysis.dataset import parts as parts_module
from axiogames.analysis.dataset.generate import generate_part, generate_parts, write_dataset
from axiogames.analysis.dataset.parts import SETTINGS_FILE, PartRange, open_parts
from axiogames.analysis.dataset.schema import METADATA_KEY
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.errors import InvalidFile, InvalidOption, MissingDependency, SettingsMismatch
from axiogames.games import GAMES


def small_settings(**change: Any) -> DatasetSettings:
    """Return settings of a small dataset."""
    return DatasetSettings.create(
        **{"game": GAMES[0], "bots": ["random"], "games": 9, "noise": 0.1, **change}
    )


def interrupted(settings: DatasetSettings, out: Path, count: int) -> Path:
    """Generate `count` parts, stop, and return their folder."""
    with open_parts(settings, out) as store, closing(generate_parts(store)) as parts:
        for part in islice(parts, count):
            store.add(part)
        return store.folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of two games and row groups of four."""
    monkeypatch.setattr(generate_module, "MAX_GAMES_PER_PART", 2)
    monkeypatch.setattr(parts_module, "GAMES_PER_GROUP", 4)


@pytest.mark.usefixtures("small")
def test_resumed_runs_give_the_same_file(tmp_path: Path) -> None:
    settings, whole, out = small_settings(), tmp_path / "whole", tmp_path / "out"
    write_dataset(settings, whole)
    for count in (1, 2, 4, 5):
        folder = interrupted(settings, out, count)
        assert not out.exists()
        assert len(list(folder.glob("*.parquet"))) == count
        assert write_dataset(settings, out) == len(read(whole))
        assert out.read_bytes() == whole.read_bytes()
        assert not folder.exists()
        out.unlink()


@pytest.mark.usefixtures("small")
def test_file_does_not_depend_on_the_boundaries_of_parts(tmp_path: Path) -> None:
    settings = small_settings()
    write_dataset(settings, tmp_path / "whole")
    with open_parts(settings, tmp_path / "out") as store:
        for games in (PartRange(7, 9), PartRange(0, 3), PartRange(4, 7), PartRange(3, 4)):
            store.add(generate_part(settings, games))
        assert (list(store.missing()), store.games) == ([], 9)
        store.join()
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.usefixtures("small")
def test_row_groups_contain_whole_games(tmp_path: Path) -> None:
    write_dataset(small_settings(), tmp_path / "out")
    file = pq.ParquetFile(tmp_path / "out")
    games = [set(file.read_row_group(n)["game"].to_pylist()) for n in range(file.num_row_groups)]
    assert games == [{0, 1, 2, 3}, {4, 5, 6, 7}, {8}]


@pytest.mark.usefixtures("small")
def test_file_does_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    settings = small_settings(game=GAMES[2], players=3, bots=["greedy", "random"], legal=True)
    write_dataset(settings, tmp_path / "one")
    interrupted(settings, tmp_path / "two", 2)
    write_dataset(settings, tmp_path / "two", jobs=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_different_seeds_give_different_rows(tmp_path: Path) -> None:
    write_dataset(small_settings(), tmp_path / "one")
    write_dataset(small_settings(seed="other"), tmp_path / "two")
    assert not read(tmp_path / "one").equals(read(tmp_path / "two"))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("difference", "change"),
    [
        (f"with game {GAMES[0]}, not game {GAMES[1]}", {"game": GAMES[1]}),
        ("with --players 2, not --players 3", {"players": 3}),
        ("with --bots random, not --bots greedy", {"bots": ["greedy"]}),
        ("with --seed 0, not --seed other", {"seed": "other"}),
        ("with --games 9, not --games 10", {"games": 10}),
        ("with --noise 0.1, not --noise 0.2", {"noise": 0.2}),
        ("without --legal-actions, not with --legal-actions", {"legal": True}),
    ],
)
def test_resuming_with_other_settings_names_the_difference(
    difference: str, change: dict[str, Any], tmp_path: Path
) -> None:
    folder = interrupted(small_settings(), tmp_path / "out", 1)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SettingsMismatch, match=f"cannot resume: the run in .* was started {difference}; "):
        write_dataset(small_settings(**change), tmp_path / "out")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_resuming_with_other_options_or_version_is_rejected(tmp_path: Path) -> None:
    interrupted(small_settings(game=GAMES[-1]), tmp_path / "out", 1)
    with pytest.raises(SettingsMismatch, match="without --option, not with --option short"):
        write_dataset(small_settings(game=GAMES[-1], options=["short"]), tmp_path / "out")
    folder = interrupted(small_settings(), tmp_path / "two", 1)
    old = (
        (folder / SETTINGS_FILE)
        .read_text(encoding="utf-8")
        .replace(f'"version":"{small_settings().version}"', '"version":"0.0.1"')
    )
    (folder / SETTINGS_FILE).write_text(old, encoding="utf-8")
    with pytest.raises(SettingsMismatch, match=r"with version 0\.0\.1, not version "):
        write_dataset(small_settings(), tmp_path / "two")


def test_settings_without_parts_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out.parts"
    with open_parts(small_settings(), tmp_path / "out"):
        assert folder.exists()
    assert not folder.exists()
    folder.mkdir()
    (folder / SETTINGS_FILE).write_text("{}", encoding="utf-8")
    write_dataset(small_settings(games=1), tmp_path / "out")
    assert read(tmp_path / "out")["game"].to_pylist()[-1] == 0


# ---------------------------------------------------------------- the joined file


def test_a_finished_file_is_replaced_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_dataset(small_settings(games=1), out)
    before = out.read_bytes()
    with pytest.raises(InvalidFile, match="the file exists; --force replaces it"):
        write_dataset(small_settings(games=2), out)
    assert not (tmp_path / "out.parts").exists()
    settings = small_settings(games=2)
    with open_parts(settings, out, force=True) as store:
        store.add(generate_part(settings, PartRange(0, 2)))
        assert out.read_bytes() == before
        store.join()
    assert metadata(out).settings == settings


def test_a_file_created_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    settings, out = small_settings(games=1), tmp_path / "out"
    with open_parts(settings, out) as store:
        store.add(generate_part(settings, PartRange(0, 1)))
        out.write_text("other content", encoding="utf-8")
        with pytest.raises(InvalidFile, match="the file exists"):
            store.join()
    assert out.read_text(encoding="utf-8") == "other content"
    out.unlink()
    assert write_dataset(settings, out) == store.positions


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failed_join_leaves_no_file(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, out = small_settings(games=2), tmp_path / "out"
    write_dataset(settings, tmp_path / "whole")
    interrupted(settings, out, 2)

    def fail(*arguments: Any) -> None:
        raise OSError("disk failure")

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(OSError, match="disk failure"):
            write_dataset(settings, out)
    assert not out.exists()
    write_dataset(settings, out)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_symbolic_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_dataset(small_settings(games=1), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(read(tmp_path / "target"))


def test_targets_that_are_not_regular_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="standard output"):
        write_dataset(small_settings(), "-")
    with pytest.raises(InvalidFile, match="not a regular file"):
        write_dataset(small_settings(), tmp_path)
    (tmp_path / "out.parts").write_text("", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not a folder"):
        write_dataset(small_settings(), tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        write_dataset(small_settings(), tmp_path / "no" / "folder")


def test_a_dataset_is_locked_by_one_program(tmp_path: Path) -> None:
    with (
        open_parts(small_settings(), tmp_path / "out"),
        pytest.raises(InvalidFile, match="another program is writing here"),
    ):
        write_dataset(small_settings(), tmp_path / "out")


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
def test_damaged_parts_are_named(damage: Callable[[Path], None], tmp_path: Path) -> None:
    settings, out = small_settings(games=3), tmp_path / "out"
    damage(interrupted(settings, out, 1))
    with pytest.raises(InvalidFile, match=r"\d-\d+\.parquet: not a part of this dataset; remove it"):
        write_dataset(settings, out)
    assert not out.exists()


def test_damaged_settings_are_rejected(tmp_path: Path) -> None:
    folder = interrupted(small_settings(), tmp_path / "out", 1)
    (folder / SETTINGS_FILE).write_text("nonsense", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not the settings of a dataset"):
        write_dataset(small_settings(), tmp_path / "out")
    (folder / SETTINGS_FILE).unlink()
    with pytest.raises(InvalidFile, match="parts without settings"):
        write_dataset(small_settings(), tmp_path / "out")


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, "not an axio dataset"),
        ({METADATA_KEY: b"nonsense"}, "metadata is damaged"),
        ({METADATA_KEY: b'{"format":"axio-dataset/2"}'}, "metadata is damaged"),
        (
            {METADATA_KEY: b'{"format":"axio-dataset/9"}'},
            "unsupported format 'axio-dataset/9': this version reads 'axio-dataset/2'",
        ),
    ],
)
def test_other_parquet_files_are_rejected(metadata: dict[bytes, bytes], words: str, tmp_path: Path) -> None:
    table = pa.table({"state": [b"x"]}).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "other")
    with pytest.raises(InvalidFile, match=words):
        read(tmp_path / "other")
    with pytest.raises(InvalidFile, match=words):
        states(table)


def test_unreadable_files_and_columns_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="nowhere: No such file"):
        read(tmp_path / "nowhere")
    (tmp_path / "text").write_text("text", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not a Parquet file"):
        read(tmp_path / "text")
    write_dataset(small_settings(games=1), tmp_path / "out")
    with pytest.raises(InvalidOption, match=r"has no column colour: choose from game, ply, "):
        read(tmp_path / "out", ["game", "colour"])
    with pytest.raises(InvalidOption, match="the table has no column scores: it has game"):
        column_array(read(tmp_path / "out", ["game"]))


@pytest.mark.parametrize("module", ["pyarrow", "pyarrow.parquet"])
def test_missing_pyarrow_is_reported(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for call in (lambda: write_dataset(small_settings(), tmp_path / "out"), lambda: read(tmp_path / "out")):
        with pytest.raises(MissingDependency, match=r'pyarrow is required .*pip install "\.\[data\]"'):
            call()
    assert list(tmp_path.iterdir()) == []
