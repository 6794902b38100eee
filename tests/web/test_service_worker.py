"""The service worker: what it caches, an update in the middle of a visit, and the kill switch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from playwright.sync_api import expect

from axiogames.web.pages import WEB, bundle_address, manifest, rules_files
from tests.server.driving import RunningServer, free_port, start_server
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player

PACKAGE = WEB.parent
ACTIVE = "() => navigator.serviceWorker.controller?.state === 'activated'"
# These return lists or promises, so that `evaluate` waits for them.
CACHES = "async () => (await caches.keys()).sort()"
CACHED = """async () => {
  const paths = [];
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
  }
  return paths.sort();
}"""
FIND_UPDATE = """async () => {
  const registration = await navigator.serviceWorker.getRegistration();
  const { installing, waiting } = await registration.update();
  if (waiting) return;
  await new Promise((resolve) => installing.addEventListener("statechange", resolve, { once: true }));
}"""
HAS_WORKER = "async () => Boolean(await navigator.serviceWorker.getRegistration())"
# The marker that `Deployment.replace_bundles` adds to all scripts.
IS_NEW = "() => globalThis.deployed === 2"
INTERRUPTED = (
    "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection|Failed to fetch"
)


class Deployment:
    """A copy of the package whose bundles can be replaced, always served on the same port."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.web = folder / "source" / "axiogames" / "web"
        self.port = free_port()
        self.web.parent.mkdir(parents=True)
        # Not symbolic links: the digest of the rules, which names their cache, covers real files only.
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, self.web.parent, ignore=ignored, dirs_exist_ok=True)

    def start(self, *options: str) -> RunningServer:
        """Start the server."""
        environment = {"PYTHONPATH": str(self.web.parents[1])}
        return start_server(self.data, extra=options, environment=environment, port=self.port)

    def replace_bundles(self) -> None:
        """Deploy a version in which every bundle has another name, and every script a marker."""
        hashes = {hashed.split(".")[1] for hashed in manifest().files.values()} | {manifest().version}
        pattern = re.compile("|".join(hashes))
        for path in sorted((self.web / "bundles").iterdir()):
            if path.suffix == ".br":
                path.unlink()
                continue
            text = pattern.sub(lambda found: found[0][::-1], path.read_text(encoding="utf-8"))
            if path.suffix == ".js" and "before-paint" not in path.name:
                text = f"globalThis.deployed=2;{text}"
            path.unlink()
            path.with_name(pattern.sub(lambda found: found[0][::-1], path.name)).write_text(text, "utf-8")


def open_home(visitor: Visitor) -> None:
    """Open the home page and wait for the service worker."""
    visitor.goto("/")
    visitor.wait_until(ACTIVE)


def test_everything_is_cached_after_one_visit(visit: Visit) -> None:
    visitor = visit()
    open_home(visitor)
    cached = visitor.page.evaluate(CACHED)
    expected = [name for name in manifest().files.values() if not name.startswith("before-paint.")]
    rules = [f"/static/wasm/{name}" for name in rules_files()]
    assert cached == sorted(["/", "/offline", "/t", *map(bundle_address, expected), *rules])


def test_open_page_keeps_its_files_during_an_update(visit: Visit, tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    with deployment.start() as server:
        visitor = visit(url=server.url)
        visitor.allow(INTERRUPTED)
        open_home(visitor)
        visitor.click(visitor.find("[data-play]").first)
        Player(visitor).wait_for_action()
        (old_cache,) = visitor.page.evaluate(CACHES)
    deployment.replace_bundles()
    with deployment.start():
        visitor.page.evaluate(FIND_UPDATE)
        assert len(visitor.page.evaluate(CACHES)) == 2
        # The server no longer has the file of the menu.
        visitor.click("#menu-button")
        expect(visitor.find("dialog[open]")).to_be_visible()
        assert not visitor.page.evaluate(IS_NEW)

        visitor.goto("/")
        assert visitor.page.evaluate(IS_NEW), "the next page is new"
        visitor.page.close()
        visitor.page = visitor.context.new_page()
        open_home(visitor)
        (new_cache,) = visitor.page.evaluate(CACHES)
        assert new_cache != old_cache


def test_kill_switch_removes_worker_and_caches(visit: Visit, tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    with deployment.start() as server:
        visitor = visit(url=server.url)
        visitor.allow(INTERRUPTED)
        open_home(visitor)
        assert visitor.page.evaluate(CACHES)
    with deployment.start("--no-service-worker"):
        visitor.goto("/")
        visitor.wait_until(f"async () => !(await ({HAS_WORKER})()) && (await caches.keys()).length === 0")
        visitor.click(visitor.find("[data-play]").first)
        Player(visitor).wait_for_action()
