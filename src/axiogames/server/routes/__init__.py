"""HTTP routes, one module per resource."""

from __future__ import annotations

from typing import Any

from .daily import DAILY
from .games import GAME_ROUTES, PICTURES
from .health import HEALTH
from .home import show_home_data
from .identity import PEOPLE
from .reviews import REVIEWS
from .static import SITE
from .tables import TABLES

ROUTES: list[Any] = [
    *PEOPLE, *GAME_ROUTES, *TABLES, *PICTURES, *REVIEWS, *DAILY, show_home_data, *HEALTH, *SITE
]  # fmt: skip
