"""docs/guides/hosting.md: commands, options and numbers match the code, and the proxy examples work."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any

import click
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from axiogames.cli import program
from axiogames.server.domain.reviews import MAX_REVIEWS
from axiogames.server.settings import Settings
from axiogames.server.transport import rate_limits
from axiogames.server.transport.rate_limits import RateLimit
from tests.demanded import skip_or_fail
from tests.server.driving import LiveSocket, RunningServer, free_port, start_server
from tests.server.live import TIMEOUT

ROOT = Path(__file__).parents[2]
PAGES = ("docs/guides/hosting.md", "docs/guides/monitoring.md", "README.md", "SECURITY.md")
HOSTING = (ROOT / "docs" / "guides" / "hosting.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def commands(page: str) -> Iterator[list[str]]:
    """Yield the arguments of every `axio` command in a page: in blocks, in the systemd unit, and inline."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    lines += [line.partition("=")[2] for block in blocks(page, "ini") for line in block.splitlines()]
    text = (ROOT / page).read_text(encoding="utf-8")
    lines += re.findall(r"`(axio (?:serve|admin|backup|restore|compile)[^`]*)`", text)
    for line in lines:
        words = shlex.split(line.replace("\n", " "), comments=True)
        for number, word in enumerate(words):
            if word.rpartition("/")[2] == "axio" and words[number + 1 :]:
                if words[number + 1] in program.list_commands(click.Context(program)):
                    yield words[number + 1 :]
                break


@pytest.mark.parametrize("page", PAGES)
def test_documented_commands_and_options_exist(page: str) -> None:
    found = list(commands(page))
    assert found or page == "SECURITY.md"
    for words in found:
        command: click.Command | None = program
        rest = list(words)
        context = click.Context(program)
        while isinstance(command, click.Group) and rest:
            command = command.get_command(context, rest.pop(0))
        assert command is not None, words
        known = {
            "--help",
            *(name for param in command.params for name in (*param.opts, *param.secondary_opts)),
        }
        wrong = [word for word in rest if word.startswith("-") and word.partition("=")[0] not in known]
        assert not wrong, (page, words)
        if "…" not in rest and not isinstance(command, click.Group):
            required = any(isinstance(param, click.Argument) and param.required for param in command.params)
            if "--help" not in rest and (rest or not required):  # an inline command name without arguments
                command.make_context(command.name, rest)


def test_options_named_in_text_exist() -> None:
    known = {name for words in ("serve", "backup", "restore") for name in options(words)}
    known |= options("admin", "retention") | options("admin", "tables", "delete")
    for name in re.findall(r"`(--[a-z-]+)", HOSTING):
        assert name in known, name


def options(*path: str) -> set[str]:
    """Return the options of a command."""
    command: click.Command | None = program
    for name in path:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(program), name)
    assert command is not None
    return {name for param in command.params for name in param.opts}


def test_documented_retention_days_match_code() -> None:
    defaults = Settings()
    for option in ("open", "unfinished", "closed", "guests", "reviews"):
        (row,) = (line for line in HOSTING.splitlines() if line.endswith(f"| `--keep-{option}` |"))
        assert f" {getattr(defaults, f'keep_{option}')} days" in row, row
    assert f"when there are {MAX_REVIEWS:,} newer ones" in row  # the last row, of reviews
    assert f"{defaults.max_tables:,} per server, {defaults.max_tables_per_person} per person" in HOSTING


def test_documented_rates_match_code() -> None:
    def hourly(limit: RateLimit) -> str:
        return f"{limit.burst:g} at once and {limit.rate * 3600:.0f} an hour"

    listed = hourly(rate_limits.LISTED_FROM_ADDRESS)
    assert f"{hourly(rate_limits.TABLES_FROM_ADDRESS)}; of these, {listed} in the lobby" in HOSTING
    assert (
        f"{rate_limits.NEW_GUESTS.burst} at once and {rate_limits.NEW_GUESTS.rate * 60:g} a minute" in HOSTING
    )
    assert hourly(rate_limits.DAILY_FROM_ADDRESS) in HOSTING


# ------------------------------------------------------------------ proxies


class ProxiedBrowser:
    """Client that connects through a proxy like a browser."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.netloc = origin.partition("://")[2]
        self.cookie = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Origin": self.origin, "Content-Type": "application/json", "Cookie": self.cookie}

    def request(self, method: str, path: str, body: object = None) -> Any:
        connection: HTTPConnection
        if self.origin.startswith("https"):
            connection = HTTPSConnection(self.netloc, timeout=TIMEOUT, context=insecure_context())
        else:
            connection = HTTPConnection(self.netloc, timeout=TIMEOUT)
        connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        response = connection.getresponse()
        content = response.read()
        assert response.status < 400, content
        if (set_cookie := response.headers["set-cookie"]) is not None:
            assert ("Secure" in set_cookie) == self.origin.startswith("https"), set_cookie
            self.cookie = set_cookie.partition(";")[0]
        connection.close()
        return json.loads(content)

    def live(self, table: str) -> LiveSocket:
        secure = self.origin.startswith("https")
        return LiveSocket(
            connect(
                f"{self.origin.replace('http', 'ws', 1)}/api/tables/{table}/live",
                additional_headers={"Cookie": self.cookie},
                origin=Origin(self.origin),
                ssl=insecure_context() if secure else None,
                max_size=None,
                proxy=None,
            )
        )


def insecure_context() -> ssl.SSLContext:
    """Return a TLS context that accepts any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextmanager
def process(*words: str | Path, folder: Path, port: int) -> Iterator[None]:
    """Run a program that listens on a port."""
    with (folder / "out.txt").open("wb") as out:
        environment = {"HOME": str(folder), "PATH": "/usr/bin"}
        running = subprocess.Popen(list(map(str, words)), stdout=out, stderr=out, cwd=folder, env=environment)
    try:
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                with closing(HTTPConnection("127.0.0.1", port, timeout=1)) as connection:
                    connection.connect()
                break
            except OSError:
                output = (folder / "out.txt").read_text(errors="replace")
                assert time.monotonic() < deadline, output
                assert running.poll() is None, output
                time.sleep(0.05)
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(TIMEOUT)


def play(origin: str) -> None:
    """Play a game through a proxy."""
    ann = ProxiedBrowser(origin)
    ann.request("GET", "/api/me")
    opened = ann.request("POST", "/api/tables", {"game": "trio", "seats": [{"kind": "me"}, {"kind": "open"}]})
    seats = [{"kind": "me"}, {"kind": "bot", "level": "random"}]
    table = ann.request("POST", "/api/tables", {"game": "trio", "seats": seats})["id"]
    with ann.live(table) as live:
        assert live.play_to_end() is not None
    assert ann.request("GET", f"/api/tables/{table}")["now"]["phase"] == "over"
    assert ann.request("GET", f"/api/tables/{opened['id']}")["yours"] == [0]


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    """Ports of the proxies."""
    return {proxy: free_port() for proxy in ("nginx", "caddy")}


@pytest.fixture(scope="module")
def proxied_server(
    ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """Server that trusts a local proxy and accepts the origins of both proxies."""
    origins = f"https://127.0.0.1:{ports['nginx']}", f"http://127.0.0.1:{ports['caddy']}"
    extra = ["--proxy", "127.0.0.1", *(word for origin in origins for word in ("--origin", origin))]
    with start_server(tmp_path_factory.mktemp("proxied"), limits=True, extra=extra) as server:
        yield server


@pytest.mark.parametrize("proxy", ["nginx", "caddy"])
def test_game_through_documented_proxy(
    tmp_path: Path, proxy: str, ports: dict[str, int], request: pytest.FixtureRequest
) -> None:
    if (found := shutil.which(proxy) or shutil.which(proxy, path="/usr/sbin")) is None:
        skip_or_fail(proxy, f"{proxy} is not installed")
    if proxy == "nginx" and shutil.which("openssl") is None:
        skip_or_fail("openssl", "openssl, which makes the certificate, is not installed")
    port, server = ports[proxy], request.getfixturevalue("proxied_server")
    (block,) = blocks("docs/guides/hosting.md", proxy)
    assert "127.0.0.1:8000" in block
    text = block.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    if proxy == "nginx":
        words, origin = nginx(found, text, tmp_path, port), f"https://127.0.0.1:{port}"
    else:
        origin = f"http://127.0.0.1:{port}"
        text = text.replace("play.example.org", origin)
        (tmp_path / "Caddyfile").write_text(f"{{\n    admin off\n}}\n\n{text}")
        words = [found, "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with process(*words, folder=tmp_path, port=port):
        play(origin)


def nginx(program: str, block: str, folder: Path, port: int) -> list[str]:
    """Return the command that runs the proxy with a documented block, on loopback with a test certificate."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=test",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    for old, new in (
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("/etc/ssl/play.example.org.pem", str(folder / "cert.pem")),
        ("/etc/ssl/play.example.org.key", str(folder / "key.pem")),
    ):
        assert old in block
        block = block.replace(old, new)
    temporary = "".join(
        f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; error_log stderr; pid {folder / 'pid'}; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{block}\n}}\n"
    )
    return [program, "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "stderr"]
