"""`serve`: the page where people play, on this machine or for a whole club."""

from __future__ import annotations

import os
import sys

import click

from ...server.processes import AlreadyRunning, check_startup, free_port, open_browser, serve
from ...server.settings import DATABASE_VARIABLE, Settings
from ..terminal.options import FILE, Integer, Real
from ..terminal.server_options import hide_password, retention_options
from .compile import compile_games, uncompiled_games


@click.command("serve")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 is all."
)
@click.option("--port", type=Integer(1, 65535), help="By default the first free one from 8000 on.")
@click.option("--data", type=FILE, metavar="FOLDER", help="Where to keep games; by default your data folder.")
@click.option(
    "--database",
    metavar="URL",
    default="",
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    help="postgresql://… instead of a file in that folder.",
)
@click.option("--accept-new-key", is_flag=True, help="Take another secret key: everybody is signed out.")
@click.option("--workers", type=Integer(1, 64), default=1, show_default=True, help="Processes to use.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Where people find the page, such as https://play.example.org.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Believe X-Forwarded-For and -Proto from this address or network, such as 10.0.0.0/24.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Another name of this server; loopback, IP addresses, --host and --origin are known.",
)
@click.option("--secure", is_flag=True, help="Cookies over HTTPS only; implied by an --origin with https://.")
@click.option(
    "--bot-seconds",
    type=Real(0.01, 60),
    default=1.0,
    show_default=True,
    help="Time for a bot's move.",
)
@click.option(
    "--bot-threads", type=Integer(0, 64), default=0, help="Bots that think at once; 0 is one a core."
)
@retention_options
@click.option(
    "--metrics-port",
    type=Integer(1, 65535),
    help="Serve metrics for Prometheus here; each worker takes one port from here on.  [default: nowhere]",
)
@click.option(
    "--metrics-host", default="127.0.0.1", show_default=True, help="The address to serve metrics on."
)
@click.option("--no-limits", is_flag=True, help="Let clients ask as often as they want; for tests.")
@click.option("--open/--no-open", "opens", default=None, help="Open the page in a browser, or do not.")
@click.option(
    "--log", type=click.Choice(["debug", "info", "warning", "error"]), default="warning", show_default=True
)
def command(
    host: str,
    port: int | None,
    data: str | None,
    database: str,
    accept_new_key: bool,
    workers: int,
    origins: tuple[str, ...],
    proxies: tuple[str, ...],
    allowed_hosts: tuple[str, ...],
    secure: bool,
    bot_seconds: float,
    bot_threads: int,
    metrics_port: int | None,
    metrics_host: str,
    no_limits: bool,
    opens: bool | None,
    log: str,
    **days: int,
) -> None:
    """Serve the page: play against bots, with friends, alone, or watch.

    Everything is kept in one file in your data folder, or in a PostgreSQL database. Stop it with Ctrl-C;
    games go on where they were when it starts again.
    """
    hide_password(database)
    settings = Settings(
        data=os.path.abspath(data) if data else "",
        database=database,
        host=host,
        port=port or free_port(host),
        workers=workers,
        origins=origins,
        proxies=proxies,
        allowed_hosts=allowed_hosts,
        secure_cookies=secure,
        rate_limits=not no_limits,
        bot_threads=bot_threads,
        bot_seconds=bot_seconds,
        metrics_port=metrics_port or 0,
        metrics_host=metrics_host,
        **days,
        log_level=log,
        accept_new_key=accept_new_key,
    )
    check_startup(settings)
    if missing := uncompiled_games():
        click.echo("The rules are compiled, once on this machine; this takes about half a minute.", err=True)
        compile_games(missing)
    if opens is None:
        opens = sys.stdout.isatty()

    def ready(url: str) -> None:
        click.echo(f"The page is at {url} (stop with Ctrl-C)")
        if opens:
            open_browser(url)

    try:
        serve(settings, when_ready=ready)
    except AlreadyRunning as error:
        if not opens or "://" not in error.url:
            raise
        click.echo(f"The page is already being served at {error.url}")
        open_browser(error.url)
