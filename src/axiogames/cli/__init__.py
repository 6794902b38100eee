"""The command line. Each command is a function in a module of `commands`, and has a line in `COMMANDS`."""

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
from ..errors import AxioError, InvalidFile, InvalidOption
from ..optional_deps import missing_dependency
from .terminal.interrupts import Interrupted, clear_interrupt_flag, interruptible
from .terminal.text import one_line

# A command is imported when it is called: most need NumPy and Numba, and `axio --help` should take 50 ms.
COMMANDS = {
    "serve": "Serve the web page, on this machine or for a club.",
    "backup": "Back up the data of a server, while it runs.",
    "restore": "Restore a backup.",
    "admin": "Manage the tables and people of a server.",
    "games": "List the games.",
    "rules": "Read the rules of a game.",
    "play": "Play in the terminal, alone, against bots or with friends.",
    "simulate": "Play games between bots and record them.",
    "engine": "Run a bot as an engine for other programs.",
    "arena": "Compare the strength of bots on shared deals.",
    "dataset": "Write positions, moves and results as Parquet, for training.",
    "train": "Train the evaluation of a game by self-play.",
    "review": "Review a recorded game: the value of each move, mistakes and luck.",
    "hint": "Find the best moves of a position.",
    "solve": "Find the best line of a deal whose draws are known.",
    "verify": "Check recorded games against the rules.",
    "show": "Show a position of a recorded game, as text or as a picture.",
    "compile": "Compile the rules ahead of time.",
    "bench": "Measure the speed of the rules on this machine.",
}
# Commands that share a module, in which each is a function with its name. Any other command is the function
# `command` in the module with its name.
MODULES = {"backup": "backup", "restore": "backup", "games": "games", "rules": "games"}
# Commands that can only be imported with an extra of the package.
EXTRAS = dict.fromkeys(("serve", "backup", "restore", "admin"), "server")

# Shell completion is built into click.
EPILOG = 'Shell completion for bash: eval "$(_AXIO_COMPLETE=bash_source axio)"; zsh and fish likewise.'

# Exit codes
REFUSED = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

MAX_MESSAGE = 1000  # characters
# Errors of writing to a full disk. Without a file name, the error is of standard output.
DISK_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


class LazyGroup(click.Group):
    """The commands of `COMMANDS`, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        try:
            module = import_module(f".commands.{MODULES.get(cmd_name, cmd_name)}", __name__)
        except ModuleNotFoundError as error:
            library = (error.name or "").partition(".")[0]
            if cmd_name not in EXTRAS or library in ("", __package__.partition(".")[0]):
                raise
            raise missing_dependency(library, EXTRAS[cmd_name], f"`{PROGRAM} {cmd_name}`") from None
        command: click.Command = getattr(module, cmd_name if cmd_name in MODULES else "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        # Caught before click handles them: click prints a blank line for the first, reports the second as a
        # failure, and treats the third, which readers of damaged files raise, as an interruption.
        try:
            with interruptible(signal.SIGINT):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except BrokenPipeError:
            return PIPE_CLOSED
        except click.UsageError as error:
            # The option parser of click raises some errors without a context, which names the command.
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, ctx, ctx.invoked_subcommand)
            raise
        except EOFError as error:
            raise InvalidFile(
                f"unexpected end of a file: {error}" if str(error) else "unexpected end of a file"
            ) from None


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.option(
    "--register",
    "packages",
    multiple=True,
    metavar="PACKAGE",
    help="Add the game in an importable Python package. Repeatable.",
)
@click.pass_context
def program(ctx: click.Context, *, packages: tuple[str, ...]) -> None:
    """Four tile-laying games: play, host, simulate, analyse and train."""
    for package in packages:
        _register(package)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _register(package: str) -> None:
    """Register a game, with errors that name the option."""
    from ..games import register_game

    try:
        register_game(package)
    except AxioError:
        raise
    except (ImportError, TypeError, ValueError) as error:  # the last two for names such as "." and ""
        raise InvalidOption(f"--register {package}: {error}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. Errors are reported in one line on standard error."""
    _open_closed_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code: int | None = program.main(arguments, PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:  # a group without a command: the message is its help
        click.echo(error.format_message(), err=True)
        return REFUSED
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        message = error.format_message()
        end = "" if message.endswith((".", "?", "?)")) else "."
        return _refuse(f"{message}{end} See {command} --help")
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
        clear_interrupt_flag()
        return _refuse(str(error) or "interrupted", INTERRUPTED)
    if code == PIPE_CLOSED:
        _drop_output()
    return code or 0


def _refuse(message: str, code: int = REFUSED) -> int:
    line = one_line(message)
    if len(line) > MAX_MESSAGE:  # it quotes a long argument
        line = f"{line[: MAX_MESSAGE // 2]} … {line[-MAX_MESSAGE // 2 :]}"
    with suppress(OSError):  # standard error is closed
        click.echo(f"{PROGRAM}: {line}", err=True)
    return code


def _open_closed_streams() -> None:
    """Open streams that the caller has closed (`axio … <&-`), so that no other file gets their descriptor."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def _drop_output() -> None:
    """Discard standard output, whose reader has closed it, so that flushing it at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
