"""Render modes of environments: text and pixels."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from ..drawing import svg
from ..errors import InvalidEnvironment
from ..model.view import View
from ..optional_deps import require

MODES = ("human", "ansi", "rgb_array")
WIDTH = 640  # pixels


def check_render_mode(mode: str | None) -> str | None:
    """Return the render mode. Raises `InvalidEnvironment`, or `MissingDependency` for `rgb_array`."""
    if mode is not None and mode not in MODES:
        raise InvalidEnvironment(f"unknown render mode {mode!r}: choose from {', '.join(MODES)}")
    if mode == "rgb_array":
        require("PIL.Image", "rl")
    return mode


def render_view(view: View, mode: str | None) -> Any:
    """Return a view as text (`ansi`) or as pixels (`rgb_array`), or print the text (`human`)."""
    if mode is None:
        raise InvalidEnvironment(
            f"no render mode: create the environment with render_mode={' or '.join(map(repr, MODES))}"
        )
    if mode == "rgb_array":
        picture = require("PIL.Image", "rl").open(BytesIO(svg.render_png(view.svg(), width=WIDTH)))
        return np.array(picture.convert("RGB"))
    if mode == "human":
        print(view)
        return None
    return view.text()
