"""Visitors with a real browser at a real server, and a record of their messages and problems.

Everything that a page should not do (errors and warnings on the console, violations of its content policy,
errors of the server) is noted in `Visitor.problems`; the fixture that made the visitor fails the test for it.
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

PATIENCE = 15_000  # milliseconds to wait for anything on a page
SIZES: dict[str, ViewportSize] = {
    "phone": {"width": 360, "height": 740},
    "tablet": {"width": 820, "height": 1180},
    "desktop": {"width": 1440, "height": 900},
    "wall": {"width": 3840, "height": 2160},
}
TOUCH_SIZES = ("phone", "tablet")
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
expect.set_options(timeout=PATIENCE)
LOCALES = {"en": "en-GB", "de": "de-DE"}

# Runs before the scripts of every page.
NOTICE = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`forbidden by ${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}`));
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
# The page pauses after each move of another player. Tests that play whole games shorten the pauses.
SHORT_PAUSES = """{
  const real = window.setTimeout;
  const shorter = (wait) => (wait > 50 && wait < 2000 ? wait / 10 : wait);
  window.setTimeout = (work, wait, ...more) => real(work, shorter(wait), ...more);
}"""

WAIT = """async (patience) => {
  const condition = CONDITION;
  const end = performance.now() + patience;
  for (;;) {
    const found = condition();
    if (found || performance.now() > end) return found;
    await new Promise((done) => setTimeout(done, 20));
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
        """Return the commands sent of one kind."""
        return [message for message in self.sent if message["do"] == do]


class PersonClient(Client):
    """An HTTP client with the identity of a browser context, for steps that need no clicks."""

    def __init__(self, url: str, context: BrowserContext) -> None:
        super().__init__(url)
        self.context = context

    @property
    def headers(self) -> dict[str, str]:
        cookies = self.context.cookies(self.url)
        return {"Origin": self.url, "Cookie": "; ".join(f"{one['name']}={one['value']}" for one in cookies)}


class Visitor:
    """A person with a separate browser context. Visitors share only the server."""

    def __init__(self, context: BrowserContext, url: str, *, touch: bool) -> None:
        self.context = context
        self.url = url
        self.touch = touch
        self.problems: list[str] = []
        self.messages = SocketLog()
        self.answers: list[Response] = []
        self.actions = 0  # clicks and taps
        self._allowed = [re.compile("registration blocked by Playwright")]
        context.set_default_timeout(PATIENCE)
        context.on("page", lambda page: page.on("websocket", self.messages.watch))
        context.on("console", self._console)
        context.on("weberror", lambda error: self._note(f"error in a script: {error.error}"))
        context.on("response", self._response)
        self.page = context.new_page()

    def allow(self, pattern: str) -> None:
        """Allow a problem that belongs to the test."""
        self._allowed.append(re.compile(pattern))

    def _note(self, problem: str) -> None:
        self.problems.append(problem)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._note(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _response(self, response: Response) -> None:
        self.answers.append(response)
        if response.status >= 500:
            self._note(f"{response.status} for {response.url}")

    @property
    def unexpected_problems(self) -> list[str]:
        """Problems that the test has not allowed."""
        return [one for one in self.problems if not any(known.search(one) for known in self._allowed)]

    def goto(self, path: str) -> Page:
        """Open a page and wait until its script has rendered the header."""
        self.page.goto(self.url + path)
        self.page.locator("#top > *").first.wait_for(state="attached")
        return self.page

    def until(self, condition: str, timeout: float = PATIENCE) -> Any:
        """Wait until a function in the page returns a true value, and return it.

        Playwright's own way of waiting needs `eval`, which the page's content policy forbids.
        """
        end = time.monotonic() + timeout / 1000
        while (left := end - time.monotonic()) > 0:
            try:
                if found := self.page.evaluate(WAIT.replace("CONDITION", condition), 1000 * left):
                    return found
            except BrowserError as error:
                if not re.search("context was destroyed|navigation", str(error)):
                    raise
        raise AssertionError(f"{self.page.url}: this did not become true: {condition}")

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def click(self, target: str | Locator) -> None:
        """Click, or tap on a touch screen."""
        found = self.page.locator(target) if isinstance(target, str) else target
        self.actions += 1
        if self.touch:
            found.tap()
        else:
            found.click()

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

    def set(self, **settings: object) -> None:
        """Set settings before any page is opened."""
        kept = json.dumps(json.dumps(settings))
        self.context.add_init_script(
            f"localStorage.getItem('settings') ?? localStorage.setItem('settings', {kept})"
        )

    def stored(self) -> dict[str, Any]:
        """Return the settings stored by the page."""
        found: dict[str, Any] = self.page.evaluate("JSON.parse(localStorage.getItem('settings') ?? '{}')")
        return found


def new_visitor(
    chromium: Chromium,
    url: str,
    size: str = "desktop",
    *,
    language: str = "en",
    theme: Theme = "light",
    calm: bool = False,
    hurry: bool = False,
    worker: bool = True,
) -> Visitor:
    """Return a visitor with a new browser context. `worker` allows the service worker."""
    touch = size in TOUCH_SIZES
    context = chromium.new_context(
        viewport=SIZES[size],
        has_touch=touch,
        is_mobile=touch,
        locale=LOCALES[language],
        color_scheme=theme,
        reduced_motion="reduce" if calm else "no-preference",
        service_workers="allow" if worker else "block",
        accept_downloads=True,
    )
    context.add_init_script(NOTICE)
    if hurry:
        context.add_init_script(SHORT_PAUSES)
    return Visitor(context, url, touch=touch)
