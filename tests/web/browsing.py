"""Visitors: browser contexts at a running server, with a record of their messages and problems.

Errors and warnings on the console, violations of the content security policy and server errors are recorded
in `Visitor.problems`. The fixture `visit` fails the test for them.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import (
    BrowserContext,
    BrowserType,
    ConsoleMessage,
    Locator,
    Page,
    Response,
    ViewportSize,
    WebSocket,
    expect,
)
from playwright.sync_api import Error as BrowserError

from tests.demanded import need
from tests.server.driving import Client, Json

PAGE_TIMEOUT = 15_000  # milliseconds
SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 360, "height": 740},
    "tablet": {"width": 820, "height": 1180},
    "desktop": {"width": 1440, "height": 900},
    "wall": {"width": 3840, "height": 2160},
}
TOUCH_SIZES = ("phone", "tablet")
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
expect.set_options(timeout=PAGE_TIMEOUT)
LOCALES = {"en": "en-GB", "de": "de-DE"}

# Runs before the scripts of every page.
MONITOR_SCRIPT = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`blocked by ${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}`));
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
# The page pauses after each move of another player. Tests of whole games shorten these pauses.
SHORT_PAUSES_SCRIPT = """{
  const { setTimeout } = window;
  const shorten = (delay) => (delay > 50 && delay < 2000 ? delay / 10 : delay);
  window.setTimeout = (callback, delay, ...args) => setTimeout(callback, shorten(delay), ...args);
}"""

WAIT_SCRIPT = """async (timeout) => {
  const condition = CONDITION;
  const deadline = performance.now() + timeout;
  for (;;) {
    const result = await condition();
    if (result || performance.now() > deadline) return result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}"""


def launch(chromium: BrowserType) -> Chromium:
    """Start the system's Chromium, or skip the test if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = need("chromium", next(filter(None, map(shutil.which, names)), None))
    # Without a GPU, Chromium would emulate one on the CPU.
    return chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])


@dataclass
class SocketLog:
    """The messages on the WebSockets of a visitor's pages."""

    received: list[Json] = field(default_factory=list)
    sent: list[Json] = field(default_factory=list)

    def watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.received.append(json.loads(frame)))
        socket.on("framesent", lambda frame: self.sent.append(json.loads(frame)))

    @property
    def refused(self) -> list[Json]:
        return [message for message in self.received if message["type"] == "refused"]

    def commands(self, do: str) -> list[Json]:
        """Return the sent commands of one kind."""
        return [message for message in self.sent if message["do"] == do]


class PersonClient(Client):
    """An HTTP client with the identity of a browser context, for steps that need no clicks."""

    def __init__(self, url: str, context: BrowserContext) -> None:
        super().__init__(url)
        self.context = context

    @property
    def headers(self) -> dict[str, str]:
        cookies = self.context.cookies(self.url)
        return {
            "Origin": self.url,
            "Cookie": "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies),
        }


class Visitor:
    """A person with a separate browser context. Visitors share nothing but the server."""

    def __init__(self, context: BrowserContext, url: str, *, touch: bool) -> None:
        self.context = context
        self.url = url
        self.touch = touch
        self.problems: list[str] = []
        self.messages = SocketLog()
        self.responses: list[Response] = []
        self.actions = 0  # clicks and taps
        self._allowed = [re.compile("registration blocked by Playwright")]
        context.set_default_timeout(PAGE_TIMEOUT)
        context.on("page", lambda page: page.on("websocket", self.messages.watch))
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self._record(f"error in a script: {error.error}"))
        context.on("response", self._on_response)
        self.page = context.new_page()

    def allow(self, pattern: str) -> None:
        """Allow problems that match a regular expression."""
        self._allowed.append(re.compile(pattern))

    def _record(self, problem: str) -> None:
        self.problems.append(problem)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._record(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _on_response(self, response: Response) -> None:
        self.responses.append(response)
        if response.status >= 500:
            self._record(f"{response.status} for {response.url}")

    @property
    def unexpected_problems(self) -> list[str]:
        """Problems that the test has not allowed."""
        return [
            problem
            for problem in self.problems
            if not any(pattern.search(problem) for pattern in self._allowed)
        ]

    def goto(self, path: str) -> Page:
        """Open a page and wait until its script has rendered the header."""
        self.page.goto(self.url + path)
        self.page.locator("#top > *").first.wait_for(state="attached")
        return self.page

    def wait_until(self, condition: str, timeout: float = PAGE_TIMEOUT) -> Any:
        """Wait until a function in the page returns a true value, and return it.

        `Page.wait_for_function` needs `eval`, which the content security policy forbids.
        """
        deadline = time.monotonic() + timeout / 1000
        while (remaining := deadline - time.monotonic()) > 0:
            try:
                script = WAIT_SCRIPT.replace("CONDITION", condition)
                if result := self.page.evaluate(script, 1000 * remaining):
                    return result
            except BrowserError as error:
                if not re.search("context was destroyed|navigation", str(error)):
                    raise
        raise AssertionError(f"{self.page.url}: condition not met within {timeout:.0f} ms: {condition}")

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def click(self, target: str | Locator) -> None:
        """Click, or tap on a touch screen."""
        locator = self.page.locator(target) if isinstance(target, str) else target
        self.actions += 1
        if self.touch:
            locator.tap()
        else:
            locator.click()

    def click_at(self, x: float, y: float) -> None:
        self.actions += 1
        if self.touch:
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.click(x, y)

    def ensure_identity(self) -> None:
        """Make sure that the visitor has an identity."""
        if not self.context.cookies(self.url):
            self.context.request.get(f"{self.url}/api/me")

    @property
    def client(self) -> PersonClient:
        """An HTTP client with the same identity."""
        self.ensure_identity()
        return PersonClient(self.url, self.context)

    def set_settings(self, **settings: object) -> None:
        """Store settings before a page is opened, unless the browser context has some."""
        stored = json.dumps(json.dumps(settings))
        self.context.add_init_script(
            f"localStorage.getItem('settings') ?? localStorage.setItem('settings', {stored})"
        )

    def stored_settings(self) -> dict[str, Any]:
        """Return the settings stored by the page."""
        settings: dict[str, Any] = self.page.evaluate("JSON.parse(localStorage.getItem('settings') ?? '{}')")
        return settings


def new_visitor(
    chromium: Chromium,
    url: str,
    size: str = "desktop",
    *,
    language: str = "en",
    theme: Theme = "light",
    reduced_motion: bool = False,
    short_pauses: bool = False,
    service_worker: bool = True,
) -> Visitor:
    """Return a visitor with a new browser context.

    Args:
        chromium: the browser.
        url: address of the server.
        size: a key of `SIZES`.
        language: a key of `LOCALES`.
        theme: the preference of the system.
        reduced_motion: the preference of the system.
        short_pauses: whether the page waits a tenth of the usual time.
        service_worker: whether the page may register its service worker.
    """
    touch = size in TOUCH_SIZES
    context = chromium.new_context(
        viewport=SIZES[size],
        has_touch=touch,
        is_mobile=touch,
        locale=LOCALES[language],
        color_scheme=theme,
        reduced_motion="reduce" if reduced_motion else "no-preference",
        service_workers="allow" if service_worker else "block",
        accept_downloads=True,
    )
    context.add_init_script(MONITOR_SCRIPT)
    if short_pauses:
        context.add_init_script(SHORT_PAUSES_SCRIPT)
    return Visitor(context, url, touch=touch)
