"""Compiled encoding of columns of numbers as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiogames.server.presentation.moves_json import column_as_json, distinct, prepare, rows_as_json

SMALL = st.integers(-(2**15), 2**15 - 1)


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    prepare()


@given(st.lists(st.integers(-(2**62), 2**62), max_size=40))
def test_column_is_a_json_list(numbers: list[int]) -> None:
    assert json.loads(column_as_json(np.array(numbers, np.int64))) == numbers


@given(st.integers(1, 5).flatmap(lambda width: st.lists(st.lists(SMALL, min_size=width, max_size=width))))
def test_rows_are_a_json_list_of_lists(rows: list[list[int]]) -> None:
    width = len(rows[0]) if rows else 3
    assert json.loads(rows_as_json(np.array(rows, np.int16).reshape(len(rows), width))) == rows


@given(st.lists(st.integers(0, 3000), max_size=60))
def test_distinct_numbers_are_in_ascending_order(numbers: list[int]) -> None:
    values, indices = distinct(np.array(numbers, np.int32))
    assert values.tolist() == sorted(set(numbers))
    assert values[indices].tolist() == numbers
