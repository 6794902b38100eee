"""Every page in every state is accessible at all sizes, in both languages, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize

from tests.web.browsing import SIZES
from tests.web.checks import clipped_texts, hidden_board, horizontal_overflow, small_targets, violations
from tests.web.conftest import Visit
from tests.web.stage import GAMES, Stage
from tests.web.states import STATES, State, settle

SMALL: list[ViewportSize] = [{"width": 320, "height": 640}, {"width": 740, "height": 360}]
# To save time, each state is shown at two of these sizes in one language, at the other two in the other.
LARGER: list[list[ViewportSize]] = [
    [{"width": 360, "height": 740}, {"width": 1440, "height": 900}],
    [{"width": 768, "height": 1024}, {"width": 3840, "height": 2160}],
]


def slow_marks(state: State, language: str) -> list[pytest.MarkDecorator]:
    """Mark most rules pages, two of the boards, and the language with shorter words as slow."""
    further_rules = state.name.startswith("rules-") and state.name != f"rules-{GAMES[0]}"
    # Other states show boards of hex, and tiles of rota.
    further_boards = state.name in ("playing-hex", "playing-rota")
    return [pytest.mark.slow] if further_rules or further_boards or language != state.languages[-1] else []


@pytest.mark.parametrize(
    ("state", "language"),
    [
        pytest.param(state, language, id=f"{state.name}-{language}", marks=slow_marks(state, language))
        for state in STATES
        for language in state.languages
    ],
)
def test_pages_are_accessible_on_all_screens(visit: Visit, stage: Stage, state: State, language: str) -> None:
    # To save time, each combination of size and language is shown in one theme. The themes alternate.
    dark = (STATES.index(state) % 2 == 0) == (language == "de")
    visitor = visit("phone", language=language, theme="dark" if dark else "light", service_worker=False)
    page = state.show(visitor, stage)
    settle(page)
    found = {"phone": violations(visitor), "small targets": small_targets(page)}
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.set_viewport_size(SIZES["desktop"])
    settle(page)
    found["desktop"] = violations(visitor)
    for screen in (*SMALL, *LARGER[dark]):
        page.set_viewport_size(screen)
        settle(page)
        size = f"{screen['width']}×{screen['height']}"
        found[f"overflow at {size}"] = horizontal_overflow(page, screen["width"])
        found[f"clipped at {size}"] = clipped_texts(page)
        if state.board:
            found[f"board at {size}"] = hidden_board(page)
    assert {check: problems for check, problems in found.items() if problems} == {}
