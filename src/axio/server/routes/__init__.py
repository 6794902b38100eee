"""Everything that can be asked over HTTP and WebSockets; a module for each topic."""

from __future__ import annotations

from typing import Any

from .daily import DAILY
from .games import GAME_ROUTES
from .health import HEALTH
from .people import PEOPLE
from .pictures import PICTURES
from .reviews import REVIEWS
from .site import SITE
from .tables import TABLES

ROUTES: list[Any] = [*PEOPLE, *GAME_ROUTES, *TABLES, *PICTURES, *REVIEWS, *DAILY, *HEALTH, *SITE]
