"""The options that say how long a server keeps what has been abandoned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from ..server.settings import Settings
from .parameters import Integer

HELP = {
    "keep_open": "Days until an open table that nobody has joined or changed is closed.",
    "keep_unfinished": "Days without a move until a game is closed.",
    "keep_closed": "Days until a closed table is deleted.",
    "keep_guests": "Days until a guest who has not come and has no table is deleted.",
    "keep_reviews": "Days until a kept review is deleted; it can be made again.",
}


def retention_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `HELP`, `--keep-open` and so on; 0 keeps for ever."""
    usual = {field.name: field.default for field in fields(Settings)}
    for name, text in reversed(HELP.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=Integer(0, 36_500),
            default=usual[name],
            show_default=True,
            metavar="DAYS",
            help=text,
        )
        function = option(function)
    return function
