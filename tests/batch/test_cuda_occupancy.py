"""Occupancy: blocks of playouts and warps per multiprocessor, as `batch.cuda_occupancy` plans them."""

from __future__ import annotations

import pytest

from axiogames.batch.cuda_occupancy import (
    DEFAULT_LAUNCH,
    LAUNCH_CONFIGS,
    SHARED,
    WARP,
    LaunchConfig,
    MultiprocessorLimits,
    plan_share,
    warps_at_once,
)
from axiogames.games import GAMES, find_variant

HOPPER = MultiprocessorLimits(228 * 1024, 65536)


@pytest.mark.parametrize(
    ("size", "warps", "registers", "found"),
    [
        (10632, 1, 96, 19),
        (10632, 1, 112, 16),
        (10632, 1, 168, 12),
        (19080, 2, 88, 20),
        (27528, 3, 96, 18),
        (44424, 5, 80, 20),
        (42344, 4, 96, 20),
        (23400, 2, 128, 16),
        (23944, 1, 128, 9),
    ],
)
def test_warps_at_once_match_an_h200(size: int, warps: int, registers: int, found: int) -> None:
    assert warps_at_once(HOPPER, size, warps, registers) == found


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("launch", LAUNCH_CONFIGS.values(), ids=list(LAUNCH_CONFIGS))
def test_no_other_block_size_fits_more_games(launch: LaunchConfig, game: str, compact: bool) -> None:
    variant = find_variant(game, 2)
    variant = variant.compact if compact else variant
    state, constants = variant.opening.dtype.itemsize, variant.constants.dtype.itemsize
    share = plan_share(HOPPER, state, constants, launch)

    def at_once(warps: int, registers: int) -> int:
        return warps_at_once(HOPPER, warps * WARP * state + constants, warps, registers)

    if share.fits:
        best = at_once(share.warps, share.registers)
        assert best >= launch.min_warps
        assert all(at_once(warps, share.registers) <= best for warps in range(1, launch.max_warps + 1))
    else:
        assert all(at_once(warps, 1) < launch.min_warps for warps in range(1, launch.max_warps + 1))
        assert share.registers == 0


def test_launch_configs_set_shared_memory_and_registers() -> None:
    few = plan_share(HOPPER, 500, 2000, DEFAULT_LAUNCH)
    many = plan_share(HOPPER, 100, 2000, DEFAULT_LAUNCH)
    assert few.registers > many.registers == DEFAULT_LAUNCH.registers
    assert plan_share(HOPPER, 100, 2000, DEFAULT_LAUNCH._replace(registers=64)).registers == 64
    assert plan_share(HOPPER, 100, 2000, DEFAULT_LAUNCH._replace(max_warps=1)).warps == 1
    assert plan_share(HOPPER, 1000, 2000, DEFAULT_LAUNCH).fits
    assert not plan_share(HOPPER, 1000, 2000, DEFAULT_LAUNCH._replace(min_warps=12)).fits
    assert not plan_share(HOPPER, SHARED // WARP, 1, DEFAULT_LAUNCH).fits
