"""Errors of devices on machines without a GPU. `test_cuda.py` is for machines with one."""

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
def no_cached_device() -> None:
    """Forget the device that another test has found."""
    find_cuda.cache_clear()


def test_unknown_device_is_rejected() -> None:
    with pytest.raises(DeviceNotFound, match="unknown device 'tpu': choose from cpu, cuda"):
        Batch(GAMES[0], device="tpu")


def test_threads_need_the_cpu() -> None:
    with pytest.raises(InvalidBatchInput, match="threads=2 needs device='cpu'"):
        Batch(GAMES[0], device="cuda", threads=2)


def test_missing_numba_cuda_error_has_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[cuda\]"'):
        Batch(GAMES[0], device="cuda")


def test_missing_gpu_does_not_fall_back_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba_cuda", ModuleType("numba_cuda"))
    monkeypatch.setattr(numba, "cuda", SimpleNamespace(is_available=lambda: False), raising=False)
    with pytest.raises(DeviceNotFound, match="needs an NVIDIA GPU, and none was found"):
        Batch(GAMES[0], device="cuda")
