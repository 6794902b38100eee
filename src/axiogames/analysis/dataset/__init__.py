"""Positions as seats saw them, with moves and results, as Parquet for training (docs/guides/datasets.md).

`read` gives a file back as a pyarrow table, `states` its records, `points` its columns of points.
"""

from __future__ import annotations

from .reading import facts, points, read, states

__all__ = ["facts", "points", "read", "states"]
