"""A game shown to people who watch an environment: as text, or as an array of pixels."""

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


def checked_mode(mode: str | None) -> str | None:
    """Return the render mode. Raises `InvalidEnvironment`, or `MissingDependency` for `rgb_array`."""
    if mode is not None and mode not in MODES:
        raise InvalidEnvironment(f"there is no render mode {mode!r}; there are {', '.join(MODES)}")
    if mode == "rgb_array":
        require("PIL.Image", "rl")
    return mode


def rendered(view: View, mode: str | None) -> Any:
    """A view as `ansi` text or as an `rgb_array`; `human` prints the text."""
    if mode is None:
        raise InvalidEnvironment(
            f"nothing was said about rendering: make it with render_mode= {' or '.join(MODES)}"
        )
    if mode == "rgb_array":
        picture = require("PIL.Image", "rl").open(BytesIO(svg.render_png(view.svg(), width=WIDTH)))
        return np.array(picture.convert("RGB"))
    if mode == "human":
        print(view)
        return None
    return view.text()
