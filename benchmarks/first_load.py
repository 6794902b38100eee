"""`python -m benchmarks.first_load [REVISION]`: what a first visit loads until the first tile is placed.

Chromium with an empty profile opens the home page on a slow connection and clicks without a pause: Play, a
tile, a square, Place. Measured until the server has acknowledged the placement. Visits at which the bot moves
first are repeated, since they measure the bot. With REVISION, the page of that commit is visited in turn with
this one.

The service worker starts later than the first tile; its requests delay nobody and are not counted.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import click
import msgspec
from msgspec import Struct
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks.command import main
from benchmarks.server.compare import checked_out
from benchmarks.server.processes import (
    THIS,
    compile_rules,
    free_port,
    program_in,
    running,
    serve_command,
)

BITS_PER_SECOND = 400_000
LATENCY = 400  # milliseconds
TIMEOUT = 120_000  # milliseconds
ENCODINGS = {"br": "gzip, deflate, br", "gzip": "gzip"}  # Accept-Encoding of browsers, by the best coding
# A target of the selected tile that nothing covers.
TARGET = """() => {
  for (const mark of document.querySelectorAll("#board .targets [data-place]")) {
    const { x, y, width, height } = mark.getBoundingClientRect();
    const center = { x: x + width / 2, y: y + height / 2 };
    if (document.elementFromPoint(center.x, center.y)?.closest("#board")) return center;
  }
  return null;
}"""


class Visit(Struct):
    """Measurements of a first visit, until the first tile."""

    seconds: float
    requests: int  # sent to the server, including the WebSocket
    from_cache: int  # answered by the browser's own cache
    received: int  # bytes, including response headers


class Side(Struct):
    """Visits of one commit by accepted encoding."""

    commit: str
    visits: dict[str, list[Visit]]


class Traffic:
    """Counts the requests of a page."""

    def __init__(self, page: Page, *, encoding: str, throttled: bool) -> None:
        self.requests: set[str] = set()
        self.cached: set[str] = set()
        self.received = 0
        self.acknowledged = False
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.requestServedFromCache", lambda event: self.cached.add(event["requestId"]))
        session.on("Network.responseReceived", self._on_response)
        session.on("Network.loadingFinished", self._on_finished)
        session.on("Network.webSocketCreated", lambda event: self.requests.add(event["requestId"]))
        session.on("Network.webSocketFrameReceived", self._on_frame)
        session.send("Network.enable")
        session.send("Network.setExtraHTTPHeaders", {"headers": {"Accept-Encoding": ENCODINGS[encoding]}})
        if throttled:
            speed = BITS_PER_SECOND // 8
            conditions = {"latency": LATENCY, "downloadThroughput": speed, "uploadThroughput": speed}
            session.send("Network.emulateNetworkConditions", {"offline": False, **conditions})

    def _on_request(self, event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith("http"):
            self.requests.add(event["requestId"])

    def _on_response(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.cached.add(event["requestId"])

    def _on_finished(self, event: dict[str, Any]) -> None:
        if event["requestId"] not in self.cached:
            self.received += int(event["encodedDataLength"])

    def _on_frame(self, event: dict[str, Any]) -> None:
        payload = event["response"]["payloadData"]
        self.received += len(payload)
        message = json.loads(payload)
        self.acknowledged |= message["type"] == "step" and message["ack"] is not None


def first_visit(browser: Browser, url: str, *, encoding: str = "br", throttled: bool = True) -> Visit:
    """Visit a server for the first time, open a table against a bot, and place a tile."""
    while True:
        context = browser.new_context(
            viewport={"width": 1440, "height": 900}, locale="en-GB", service_workers="block"
        )
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        traffic = Traffic(page, encoding=encoding, throttled=throttled)
        try:
            start = monotonic()
            if not _place_first_tile(page, url, traffic):
                continue
            seconds = monotonic() - start
        finally:
            context.close()
        network = traffic.requests - traffic.cached
        return Visit(seconds, len(network), len(traffic.requests) - len(network), traffic.received)


def _place_first_tile(page: Page, url: str, traffic: Traffic) -> bool:
    """Play until the first tile is placed, or return `False` if the bot moves first."""
    page.goto(url, wait_until="commit")
    with page.expect_response(lambda response: "/api/tables/" in response.url) as found:
        page.locator("[data-play]").first.click()
    view = found.value.json()
    if view["now"]["turn"] != view["you"]:
        return False
    page.locator("#hand button[aria-disabled=false]").first.click()
    target = _poll(page, lambda: page.evaluate(TARGET))
    page.mouse.click(target["x"], target["y"])
    page.locator("#confirm").click()
    _poll(page, lambda: traffic.acknowledged)
    return True


def _poll(page: Page, condition: Any) -> Any:
    deadline = monotonic() + TIMEOUT / 1000
    while not (result := condition()):
        if monotonic() > deadline:
            raise TimeoutError("the page did not go on")
        page.wait_for_timeout(5)
    return result


@contextmanager
def _served(sources: Path | None) -> Iterator[str]:
    """Serve the page of the sources of another commit, or of this one, and yield its address."""
    program = THIS if sources is None else program_in(sources)
    env = None if sources is None else {**os.environ, "PYTHONPATH": str(sources)}
    compile_rules(program, env)
    with TemporaryDirectory() as folder:
        port = free_port()
        command = serve_command(port, Path(folder), "", program=program)
        with running(command, port, None, env=env):
            yield f"http://127.0.0.1:{port}/"


def measure(revision: str | None, rounds: int, notes: Console) -> list[Side]:
    """Return the visits of another commit, if one is given, and of this one."""
    with ExitStack() as stack:
        notes.print("compiling the rules …")
        sides = {"this commit": stack.enter_context(_served(None))}
        if revision is not None:
            sides = {
                revision: stack.enter_context(_served(stack.enter_context(checked_out(revision)))),
                **sides,
            }
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        stack.callback(browser.close)
        found = [Side(commit, {encoding: [] for encoding in ENCODINGS}) for commit in sides]
        for url in sides.values():  # the first visit to a server loads code
            first_visit(browser, url, throttled=False)
        for number in range(rounds):
            notes.print(f"round {number + 1} of {rounds}")
            for side, url in zip(found, sides.values(), strict=True):
                for encoding in ENCODINGS:
                    side.visits[encoding].append(first_visit(browser, url, encoding=encoding))
        return found


def _show(sides: Sequence[Side]) -> None:
    title = f"first visit until the first tile, {BITS_PER_SECOND // 1000} kbit/s, {LATENCY} ms"
    table = Table(title=title)
    for column in ("", "accepts", "seconds", "requests", "from cache", "kB"):
        table.add_column(column, justify="left" if column in ("", "accepts") else "right")
    for side in sides:
        for encoding, visits in side.visits.items():
            table.add_row(
                side.commit,
                encoding,
                f"{median(visit.seconds for visit in visits):.2f}",
                f"{median(visit.requests for visit in visits):.0f}",
                f"{median(visit.from_cache for visit in visits):.0f}",
                f"{median(visit.received for visit in visits) / 1000:.1f}",
            )
    Console().print(table)


@click.command()
@click.argument("revision", required=False)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Visits of each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print all visits as JSON.")
def command(*, revision: str | None, rounds: int, as_json: bool) -> None:
    """Measure a first visit on a slow connection, also that of the page of another commit."""
    if shutil.which("chromium") is None:
        raise click.ClickException("Chromium is not installed; install the package chromium")
    sides = measure(revision, rounds, Console(stderr=True))
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(sides), indent=1).decode() + "\n")
    else:
        _show(sides)


if __name__ == "__main__":
    sys.exit(main(command, "python -m benchmarks.first_load"))
