"""Where a batch can be: what is said where there is no GPU. (tests/test_cuda.py is for machines with one.)"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numba
import pytest

from axiogames.batch import Batch
from axiogames.batch.cuda import find_cuda
from axiogames.errors import DeviceNotFound, InvalidBatchInput, MissingDependency
from axiogames.games import GAMES


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """What was found out in another test is found out again."""
    find_cuda.cache_clear()


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(DeviceNotFound, match=r"no device 'tpu'; there are cpu and cuda"):
        Batch(GAMES[0], device="tpu")


def test_threads_are_not_for_a_gpu() -> None:
    with pytest.raises(InvalidBatchInput, match="2 threads are for the processor"):
        Batch(GAMES[0], device="cuda", threads=2)


def test_without_numba_cuda_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[cuda\]"'):
        Batch(GAMES[0], device="cuda")


def test_without_a_gpu_nothing_is_done_on_the_processor_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_cuda", ModuleType("numba_cuda"))
    monkeypatch.setattr(numba, "cuda", SimpleNamespace(is_available=lambda: False), raising=False)
    with pytest.raises(DeviceNotFound, match="no NVIDIA GPU can be used here"):
        Batch(GAMES[0], device="cuda")
