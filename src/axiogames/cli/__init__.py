"""The command line. A command is a module here, with a `command` in it, and a line in `COMMANDS`."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from .. import PROGRAM, __version__
from ..errors import AxioError, InvalidFile
from .terminal.interrupts import Interrupted, forget, stoppable
from .terminal.text import one_line

# Only the command that is called is loaded: most bring NumPy and Numba with them, and help needs neither.
COMMANDS = {
    "serve": "Serve the page where people play, on this machine or for a club.",
    "backup": "Back up everything that a server keeps, while it runs.",
    "restore": "Put a backup in place.",
    "admin": "Look after the tables and people of a server.",
    "games": "List the games.",
    "rules": "Read the rules of a game.",
    "play": "Play in the terminal, alone, against programs or with friends.",
    "simulate": "Let programs play each other and record every game.",
    "engine": "Answer other programs that ask one of our players for moves.",
    "arena": "Find out which programs are stronger, on shared deals.",
    "dataset": "Write positions, moves and results as Parquet, for training.",
    "report": "Make the report of an arena anew.",
    "train": "Learn a game by playing it, for the players that judge positions.",
    "review": "Go through a recorded game: what moves gave up, and what was luck.",
    "hint": "Find the best moves of a position.",
    "solve": "Find the best that can be done where nothing is left to chance.",
    "verify": "Check recorded games against the rules.",
    "show": "Show a position of a recorded game, as text or as a picture.",
    "warm": "Compile the rules of all games now, not when they are needed.",
    "bench": "Measure how fast the rules run on this machine.",
}

REFUSED = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
LONGEST_MESSAGE = 1000  # characters
# What writing fails with; whatever writes to a file tells its name.
DISK_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


class Commands(click.Group):
    """The commands of `COMMANDS`, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".commands.{cmd_name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        # Before click sees them: it would print a blank line for the first, call the second a failure, and
        # take the third, which whatever reads a damaged file may raise, for an interruption.
        try:
            with stoppable(signal.SIGINT):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except BrokenPipeError:
            return PIPE_CLOSED
        except EOFError as error:
            raise InvalidFile(
                f"a file ended too early: {error}" if str(error) else "a file ended too early"
            ) from None


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def program(ctx: click.Context) -> None:
    """A family of tile-laying games: rules, players, records and pictures."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. Whatever is wrong is said in one line."""
    _open_closed_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code: int | None = program.main(arguments, PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        return _refuse(f"{error.format_message()} See {command} --help")
    except click.ClickException as error:
        return _refuse(error.format_message())
    except AxioError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        code = PIPE_CLOSED
    except OSError as error:
        where = error.filename or ("standard output" if error.errno in DISK_FULL else "")
        what = error.strerror or str(error)
        return _refuse(f"{where}: {what}" if where else what)
    except (Interrupted, KeyboardInterrupt, click.Abort) as error:
        if sys.stderr.isatty():
            click.echo(err=True)  # the line that shows ^C
        forget()
        return _refuse(str(error) or "interrupted", INTERRUPTED)
    if code == PIPE_CLOSED:
        _drop_output()
    return code or 0


def _refuse(message: str, code: int = REFUSED) -> int:
    line = one_line(message)
    if len(line) > LONGEST_MESSAGE:  # it repeats what was typed
        line = f"{line[: LONGEST_MESSAGE // 2]} … {line[-LONGEST_MESSAGE // 2 :]}"
    with suppress(OSError):  # nobody can be told
        click.echo(f"{PROGRAM}: {line}", err=True)
    return code


def _open_closed_streams() -> None:
    """Open what the caller has closed (`axio … <&-`), or the next file would be standard input or output."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _drop_output() -> None:
    """Nobody reads any more: what is still buffered must not fail when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
