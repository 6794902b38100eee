"""Datasets of format 1 are read with the current action ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from axiogames.analysis.dataset import read, states
from axiogames.analysis.dataset.generate import write_dataset
from axiogames.analysis.dataset.schema import FORMAT, FORMAT_1, METADATA_KEY
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.errors import InvalidFile

WAYS = 24  # quarter turns and named colours of a tile


def format_1(path: Path, wrong: bool = False) -> tuple[pa.Table, Path]:
    """Return a dataset, and a file with the same dataset in format 1; `wrong` shifts its action ids."""
    settings = DatasetSettings.create("rota", ["random", "greedy"], games=1, seed="4", legal=True)
    write_dataset(settings, path / "new")
    table = read(path / "new")
    edges = [state["edge"] for state in states(table)]

    def square_id(row: int, action: int) -> int:
        return int(edges[row][action // WAYS]) * WAYS + action % WAYS + wrong * WAYS

    columns = {
        "action": [square_id(row, action) for row, action in enumerate(table.column("action").to_pylist())],
        "legal": [
            [square_id(row, action) for action in legal]
            for row, legal in enumerate(table.column("legal").to_pylist())
        ],
    }
    old = table
    for name, values in columns.items():
        field = old.schema.field(name)
        old = old.set_column(old.schema.names.index(name), field, pa.array(values, field.type))
    header = table.schema.metadata[METADATA_KEY].replace(FORMAT.encode(), FORMAT_1.encode())
    pq.write_table(old.replace_schema_metadata({METADATA_KEY: header}), path / "old")
    return table, path / "old"


def test_action_ids_are_translated(tmp_path: Path) -> None:
    table, old = format_1(tmp_path)
    assert read(old).equals(table, check_metadata=True)
    assert read(old, ["action"]).equals(table.select(["action"]))
    assert read(old, ["game"]).equals(table.select(["game"]), check_metadata=True)
    assert np.array(table.column("action")).max() < 128 * WAYS


def test_action_on_a_square_that_is_not_free_is_rejected(tmp_path: Path) -> None:
    _, old = format_1(tmp_path, wrong=True)
    with pytest.raises(InvalidFile, match=r"row \d+: action \d+ places a tile on a square that is not free"):
        read(old)
