"""Datasets of positions, moves and results as Parquet, for training (docs/guides/datasets.md).

`read` reads a file into a pyarrow table. `metadata` returns its settings and layout, `states` its game
states, and `column_array` a numeric column as a NumPy array.
"""

from __future__ import annotations

from .reading import column_array, metadata, read, states

__all__ = ["column_array", "metadata", "read", "states"]
