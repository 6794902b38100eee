"""The language of what is printed, as an option."""

from __future__ import annotations

import click

from ..games import LANGUAGES

language_option = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="The language.",
)
