"""Damaged datasets are rejected, down to single states."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from axiogames.analysis.dataset import column_array, metadata, read, states
from axiogames.analysis.dataset.generate import generate_part, write_dataset
from axiogames.analysis.dataset.parts import SETTINGS_FILE, PartRange, open_parts
from axiogames.analysis.dataset.schema import METADATA_KEY
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.errors import InvalidFile, InvalidOption
from tests.mutations import mutants


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("dataset") / "games.parquet"
    write_dataset(DatasetSettings.create("rota", ["random"], games=1, legal=True), path)
    return read(path)


def with_column(table: Any, name: str, values: Any, kind: Any = None) -> Any:
    """Return the table with the values of a column replaced, and with the same metadata."""
    index = table.schema.names.index(name)
    array = pa.array(values, kind if kind is not None else table.schema.field(name).type)
    return table.set_column(index, pa.field(name, array.type), array).replace_schema_metadata(
        table.schema.metadata
    )


def assert_rejected(table: Any, tmp_path: Path, words: str) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(table, path)
    with pytest.raises(InvalidFile, match=words):
        read(path)


def column(table: Any, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist()
    return values


@pytest.mark.parametrize(
    "name",
    [
        "game", "ply", "seat", "bot", "position", "state", "scores", "legal_count", "legal", "action", "move",
        "lot", "gain", "final_scores", "places", "place", "won",
    ],
)  # fmt: skip
def test_missing_values_are_rejected(name: str, table: Any, tmp_path: Path) -> None:
    values = [*column(table, name)[:-1], None]
    bad = with_column(table, name, values)
    assert_rejected(bad, tmp_path, f"1 values of the column {name} are missing")
    if name == "state":
        with pytest.raises(InvalidFile, match="1 values of the column state are missing"):
            states(bad)


def test_missing_values_in_lists_are_rejected(table: Any, tmp_path: Path) -> None:
    values = column(table, "scores")
    values[3][1][2] = None
    nullable = pa.list_(pa.list_(pa.int16(), 5), 2)
    assert_rejected(with_column(table, "scores", values, nullable), tmp_path, "column scores")
    with pytest.raises(InvalidFile, match="column scores"):
        column_array(with_column(table, "scores", values, nullable))


@pytest.mark.parametrize(
    ("name", "kind", "change"),
    [
        ("state", pa.binary(8), lambda state: state[:8]),
        ("state", pa.binary(), lambda state: state),
        ("state", pa.string(), lambda state: "x"),
        ("seat", pa.int16(), lambda seat: seat),
        ("seat", pa.float64(), lambda seat: float("nan")),
        ("game", pa.string(), str),
        ("scores", pa.list_(pa.int16()), lambda scores: scores[0]),
        ("places", pa.list_(pa.int8(), 1), lambda places: places[:1]),
        ("won", pa.int8(), int),
    ],
)
def test_other_column_types_are_rejected(
    name: str, kind: Any, change: Any, table: Any, tmp_path: Path
) -> None:
    bad = with_column(table, name, list(map(change, column(table, name))), kind)
    assert_rejected(bad, tmp_path, f"the column {name} has type .*, expected ")
    with pytest.raises(InvalidFile, match=f"the column {name} has type"):
        states(bad) if name == "state" else column_array(bad, name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seat", 2), ("seat", 100), ("seat", -1), ("game", 1), ("game", -1), ("ply", -1), ("place", 0),
        ("place", 3), ("action", -1), ("action", 2**31 - 1), ("legal_count", 0), ("legal_count", 2**31 - 1),
        ("legal", [-1]), ("legal", [2**31 - 1]), ("places", [0, 1]), ("gain", [-1] * 5),
        ("scores", [[-1] * 5] * 2),
    ],
)  # fmt: skip
def test_values_out_of_range_are_rejected(name: str, value: Any, table: Any, tmp_path: Path) -> None:
    values = [*column(table, name)[:-1], value]
    assert_rejected(
        with_column(table, name, values), tmp_path, f"the column {name} has values from .*, expected"
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("seat", 2, "the column seat has .* expected 0 to 1"),
        ("ply", -1, "the column ply has"),
        ("place", 0, "the column place has"),
        ("action", 2**31 - 1, "the column action has"),
        ("legal", [-1], "the column legal has"),
        ("scores", [[-1] * 5] * 2, "the column scores has"),
        ("game", 2, "the column game has"),
        ("game", 0, "its games are not 0 to 1 in order"),
    ],
)
def test_parts_are_checked_like_datasets(name: str, value: Any, words: str, tmp_path: Path) -> None:
    settings, target = (
        DatasetSettings.create("rota", ["random"], games=2, legal=True),
        tmp_path / "out.parquet",
    )
    with open_parts(settings, target) as store:
        store.add(generate_part(settings, PartRange(0, 2)))
    part = store.folder / "000000000-000000002.parquet"
    good = pq.read_table(part)
    index, field = good.schema.names.index(name), good.schema.field(name)
    pq.write_table(
        good.set_column(index, field, pa.array([*column(good, name)[:-1], value], field.type)), part
    )
    assert pq.read_table(part).schema.equals(good.schema, check_metadata=True)
    with pytest.raises(InvalidFile, match=rf"{part.name}: not a part of this dataset .*{words}.*; remove it"):
        write_dataset(settings, target)
    assert not target.exists()
    part.unlink()
    assert write_dataset(settings, target) == len(good)


@pytest.mark.parametrize("games", ["000000000-000000001", "000000001-000000002", "000000001-000000003"])
def test_a_part_contains_the_games_of_its_name(games: str, tmp_path: Path) -> None:
    settings, target = DatasetSettings.create("rota", ["random"], games=3), tmp_path / "out.parquet"
    with open_parts(settings, target) as store:
        store.add(generate_part(settings, PartRange(0, 2)))
    part = store.folder / "000000000-000000002.parquet"
    part.rename(part.with_name(f"{games}.parquet"))
    with pytest.raises(
        InvalidFile, match=rf"{games}.parquet: not a part of this dataset \(its games are not"
    ):
        write_dataset(settings, target)


def test_invalid_sources_and_column_names_are_rejected(table: Any, tmp_path: Path) -> None:
    source: Any
    for source in (None, 5, b"x", ["x"]):
        for function in (metadata, states, column_array, read):
            with pytest.raises(InvalidFile, match="is not a dataset"):
                function(source)
    path = tmp_path / "out.parquet"
    bad: list[list[Any]] = [[5], [None, "game", 7]]
    pq.write_table(table, path)
    for names in bad:
        with pytest.raises(InvalidOption, match="has no column"):
            read(path, names)
        with pytest.raises(InvalidOption, match="has no column"):
            column_array(table, names[-1])


def test_invalid_states_are_rejected(table: Any) -> None:
    good = states(table)
    dtype = good.dtype
    for field in dtype.names or ():
        for value in (127, -1, 100):
            records = good.copy()
            flat = records[field][4:5].reshape(-1)
            kind = np.iinfo(np.uint8 if flat.dtype.kind == "b" else flat.dtype)
            flat[0] = np.clip(value, kind.min, kind.max)
            records[field][4:5] = flat.reshape(records[field][4:5].shape)
            if (records == good).all():
                continue
            bad = with_column(table, "state", [record.tobytes() for record in records])
            try:
                states(bad)
            except InvalidFile as error:
                message = str(error)
                assert message.startswith("row 4: not a valid state of rota"), message
            assert len(states(bad, checked=False)) == len(good)


def test_states_that_would_cause_out_of_bounds_writes_are_rejected(table: Any) -> None:
    """A due draw for seats that do not exist once made compiled code write out of bounds."""
    records = states(table).copy()
    records["dealing"] = 127
    with pytest.raises(InvalidFile, match="row 0: not a valid state of rota"):
        states(with_column(table, "state", [record.tobytes() for record in records]))


def test_tables_without_rows_give_empty_arrays(table: Any) -> None:
    assert len(states(table.slice(0, 0))) == 0
    assert column_array(table.slice(0, 0)).shape == (0, 2, 5)


def test_columns_that_are_not_numeric_are_rejected(table: Any) -> None:
    for name in ("position", "bot", "legal", "won"):
        with pytest.raises(InvalidOption, match="is not numeric"):
            column_array(table, name)
    assert column_array(table, "place").shape == (len(table),)


def test_additional_columns_are_ignored(table: Any, tmp_path: Path) -> None:
    extended = table.append_column("mine", pa.array([None] * len(table), pa.int64()))
    assert len(states(extended)) == len(table)
    pq.write_table(extended, tmp_path / "extended.parquet")
    assert "mine" in read(tmp_path / "extended.parquet").column_names
    duplicated = table.append_column(table.schema.field("seat"), table["seat"])
    with pytest.raises(InvalidFile, match="duplicate column seat"):
        column_array(duplicated.replace_schema_metadata(table.schema.metadata), "seat")


def test_metadata_mutations_are_rejected_or_harmless(table: Any) -> None:
    accepted, messages = set(), list[str]()
    for mutation, text in mutants(json.loads(table.schema.metadata[METADATA_KEY])):
        bad = table.replace_schema_metadata({METADATA_KEY: text.encode()})
        try:
            found = metadata(bad)
        except InvalidFile as error:
            messages.append(str(error))
        else:
            accepted |= {mutation.split(" ")[0]} if found != metadata(table) else set()
    assert len(messages) > 500
    assert max(map(len, messages)) < 1000
    harmless = {"deterministic", "settings.seed", "settings.version", "settings.games", "settings.noise"}
    harmless |= {"settings.legal", "settings.options", "settings.bots", "settings.bots.0"}
    harmless |= {"settings.players"}  # the types of the columns then do not match
    assert accepted <= harmless


@pytest.mark.parametrize("name", ["a\0b", "\ud800", ""])
def test_impossible_file_names_are_rejected(name: str) -> None:
    with pytest.raises(InvalidFile):
        read(name)


def test_file_names_that_are_not_utf_8_are_read(table: Any, tmp_path: Path) -> None:
    path = tmp_path / "\udcff.parquet"
    try:
        file = path.open("wb")
    except OSError:
        pytest.skip("this file system allows only names in UTF-8")
    with file:
        pq.write_table(table, file)
    assert read(path).equals(table)


@pytest.mark.parametrize(
    "function",
    ["axiogames.analysis.dataset.parts.parquet_writer", "axiogames.analysis.dataset.parts.os.fsync"],
)
def test_a_full_disk_is_reported_with_the_file(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device")

    settings, target = DatasetSettings.create("rota", ["random"], games=1), tmp_path / "out.parquet"
    with open_parts(settings, target) as store:
        store.add(generate_part(settings, next(store.missing())))
        monkeypatch.setattr(function, fail)
        with pytest.raises(OSError, match="No space left") as caught:
            store.join()
    assert caught.value.filename == str(target)


@pytest.mark.parametrize("content", ["[" * 5000, "{}", "\xff", "", "null", '{"players":' * 3000])
def test_damaged_settings_of_parts_are_rejected(content: str, tmp_path: Path) -> None:
    folder = tmp_path / "out.parquet.parts"
    folder.mkdir()
    (folder / SETTINGS_FILE).write_bytes(content.encode("latin-1"))
    (folder / "000000000-000000001.parquet").touch()
    with pytest.raises(InvalidFile, match="not the settings of a dataset"):
        write_dataset(DatasetSettings.create("rota", ["random"], games=1), tmp_path / "out.parquet")


@pytest.mark.parametrize("name", [SETTINGS_FILE, "000000000-000000001.parquet"])
def test_a_named_pipe_in_place_of_a_part_is_rejected(name: str, tmp_path: Path) -> None:
    folder, settings = tmp_path / "out.parquet.parts", DatasetSettings.create("rota", ["random"], games=1)
    with open_parts(settings, tmp_path / "out.parquet") as store:
        store.add(generate_part(settings, next(store.missing())))
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(InvalidFile, match=name):
        write_dataset(settings, tmp_path / "out.parquet")
