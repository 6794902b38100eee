"""Running a benchmark's command line: user errors are one line on stderr and exit code 2."""

from __future__ import annotations

from collections.abc import Sequence

import click

from axiogames.errors import AxioError


def main(command: click.Command, program: str, arguments: Sequence[str] | None = None) -> int:
    """Run `command` under the name `program` and return its exit code."""
    try:
        command.main(arguments, program, standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"{program}: {error.format_message()}", err=True)
        return 2
    except AxioError as error:
        click.echo(f"{program}: {error}", err=True)
        return 2
    except click.Abort:
        return 130
    return 0
