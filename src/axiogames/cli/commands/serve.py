"""`serve`: serve the web page, on this machine or for a club."""

from __future__ import annotations

import os
import sys

import click

from ...server.processes import AlreadyRunning, check_startup, free_port, open_browser, serve
from ...server.settings import DATABASE_VARIABLE, Settings
from ..terminal.options import FILE, Integer, Real
from ..terminal.server_options import hide_password, retention_options


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=Integer(1, 65535), help="Port.  [default: the first free port from 8000 up]")
@click.option(
    "--data",
    type=FILE,
    metavar="FOLDER",
    help="Directory of the database.  [default: the user's data directory]",
)
@click.option(
    "--database",
    metavar="URL",
    default="",
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    help="Address of a PostgreSQL database, instead of SQLite in FOLDER.",
)
@click.option("--accept-new-key", is_flag=True, help="Accept a changed secret key. All users are signed out.")
@click.option(
    "--workers", type=Integer(1, 64), default=1, show_default=True, help="Number of worker processes."
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Public address of the page, such as https://play.example.org. Repeatable.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Trust X-Forwarded-For and -Proto from this address or network, such as 10.0.0.0/24. Repeatable.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Additional host name; loopback, IP addresses, --host and --origin are allowed. Repeatable.",
)
@click.option(
    "--secure-cookies",
    is_flag=True,
    help="Send cookies over HTTPS only. Implied by an --origin with https://.",
)
@click.option(
    "--bot-seconds",
    type=Real(0.01, 60),
    default=1.0,
    show_default=True,
    help="Time limit of a bot per move.",
)
@click.option(
    "--bot-threads", type=Integer(0, 64), default=0, help="Threads for bots.  [default: 0, one per core]"
)
@retention_options
@click.option(
    "--metrics-port",
    type=Integer(1, 65535),
    help="First port for Prometheus metrics; each worker uses a port.  [default: no metrics]",
)
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address to serve metrics on.")
@click.option("--no-rate-limit", is_flag=True, help="Disable the limits on requests per client, for tests.")
@click.option(
    "--no-service-worker",
    is_flag=True,
    help="Let browsers delete the service worker of the page and what it cached.",
)
@click.option(
    "--open/--no-open", "opens", default=None, help="Open the page in a browser.  [default: in a terminal]"
)
@click.option(
    "--log",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Lowest level of log messages.",
)
def command(
    *,
    host: str,
    port: int | None,
    data: str | None,
    database: str,
    accept_new_key: bool,
    workers: int,
    origins: tuple[str, ...],
    proxies: tuple[str, ...],
    allowed_hosts: tuple[str, ...],
    secure_cookies: bool,
    bot_seconds: float,
    bot_threads: int,
    metrics_port: int | None,
    metrics_host: str,
    no_rate_limit: bool,
    no_service_worker: bool,
    opens: bool | None,
    log: str,
    **days: int,
) -> None:
    """Serve the web page, to play alone, against bots or with friends, or to watch.

    All data is stored in one file in your data directory, or in a PostgreSQL database. Stop the server with
    Ctrl-C; games resume when it starts again.
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
        secure_cookies=secure_cookies,
        rate_limits=not no_rate_limit,
        service_worker=not no_service_worker,
        bot_threads=bot_threads,
        bot_seconds=bot_seconds,
        metrics_port=metrics_port or 0,
        metrics_host=metrics_host,
        **days,
        log_level=log,
        accept_new_key=accept_new_key,
    )
    check_startup(settings)
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
