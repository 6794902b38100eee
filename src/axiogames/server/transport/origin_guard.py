"""The gate before the application: hosts, origins, pace and protective headers, for HTTP and WebSockets."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from ..metrics import count_error, count_refusal
from ..settings import Settings
from .fair_share import REFUSED_AFTER, TooMuch
from .hosts import Host, Site, TrustedProxies, network_of, parse_host
from .rate_limits import SOCKETS, WRITES_FROM_ADDRESS, Limits

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=()"),
)
HSTS = (b"strict-transport-security", b"max-age=31536000")
NO_STORE = b"private, no-store"

Pairs = list[tuple[bytes, bytes]]


def with_headers(headers: Iterable[tuple[bytes, bytes]], *, secure: bool) -> Pairs:
    """Return the headers of an answer with those that protect it.

    Caches keep nothing that does not say how long: it may depend on who asks, and a table has several
    addresses. Cookies travel over HTTPS only where there is HTTPS.
    """
    found = list(headers)
    names = {name for name, _ in found}
    extra = [pair for pair in HEADERS if pair[0] not in names]
    if secure:
        extra.append(HSTS)
        found = [_secured(pair) for pair in found]
    if b"set-cookie" in names:
        found = [pair for pair in found if pair[0] != b"cache-control"]
        names.discard(b"cache-control")
    if b"cache-control" not in names:
        extra += [(b"cache-control", NO_STORE), (b"vary", b"cookie, authorization")]
    return _joined([*found, *extra])


def _secured(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = pair
    if name != b"set-cookie" or b"; secure" in value.lower():
        return pair
    return name, value + b"; Secure"


def _joined(headers: Pairs) -> Pairs:
    """The same headers with one `vary`."""
    vary = [value for name, value in headers if name == b"vary"]
    if len(vary) < 2:
        return headers
    return [*(pair for pair in headers if pair[0] != b"vary"), (b"vary", b", ".join(vary))]


def refusal(status: int, code: str, detail: str) -> tuple[Pairs, bytes]:
    """Return the headers and the body of an error, as every error looks."""
    body = json.dumps({"status_code": status, "code": code, "detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in (429, 503):
        headers.append((b"retry-after", b"5"))
    return headers, body


LONGEST_ADDRESS, MOST_PARAMETERS = 1_000, 20  # of requests: the framework remembers a thousand of them
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request does not get through."""

    status: int
    code: str
    detail: str


NO_HOST = Refusal(400, "bad_request", "a request needs one Host header with the name of this server")
OTHER_HOST = Refusal(
    421,
    "unknown_host",
    "this server does not go by that name; its host can add it with --allow-host NAME (or --origin URL)",
)
TOO_LONG = Refusal(
    414,
    "too_large",
    f"an address has at most {LONGEST_ADDRESS:,} characters and {MOST_PARAMETERS} parameters",
)
FOREIGN = Refusal(403, "foreign_origin", "this request did not come from the page of this server")
TOO_FAST = Refusal(429, "too_fast", "too many requests from this address; wait a moment and try again")
TOO_MANY = Refusal(429, "too_fast", "too many connections from this address; close some of them")
BROKEN = Refusal(500, "broken", "the server has made a mistake; try again in a moment")


def gate(app: ASGIApp, *, sockets: ASGIApp, settings: Settings, limits: Limits) -> ASGIApp:
    """The application behind its gate, and the one for WebSockets."""
    return cast(ASGIApp, Gate(app, sockets, settings, limits))


class Gate:
    """Lets requests through to the application or answers them itself."""

    def __init__(self, app: ASGIApp, sockets: ASGIApp, settings: Settings, limits: Limits) -> None:
        self._app = app
        self._sockets = sockets
        self._limits = limits
        self._site = Site(settings.host, settings.origins, settings.allowed_hosts)
        self._proxies = TrustedProxies(settings.proxies)
        self._warned = False

    def __call__(self, scope: Any, receive: Receive, send: Send) -> Awaitable[None]:
        # No coroutine of its own: every message of a WebSocket would pass through it.
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            return self._app(scope, receive, send)
        self._see_through_proxies(scope)
        answer = self._in_turn if kind == "http" else self._socket
        return answer(scope, receive, send)

    def _see_through_proxies(self, scope: Any) -> None:
        """Take the address and scheme of the client from a proxy that is trusted, from nobody else."""
        peer = scope["client"][0] if scope.get("client") else ""
        forwarded = b", ".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        if not self._proxies.trusts(peer):
            if forwarded and not self._warned:
                self._warned = True
                log.warning("X-Forwarded-For is ignored: it does not come from a proxy named with --proxy")
            return
        if forwarded:
            scope["client"] = (self._proxies.client(peer, forwarded.decode("latin-1")), 0)
        scheme = header(scope, b"x-forwarded-proto").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme if scope["type"] == "http" else scheme.replace("http", "ws")

    # ------------------------------------------------------------ HTTP

    async def _in_turn(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request when it is its network's turn."""
        try:
            await self._limits.loop.run(address(scope), partial(self._request, scope, receive, send))
        except TooMuch:
            # Not at once: it would be asked for again at once, and nobody pays for refusing.
            await self._limits.loop.sleep(REFUSED_AFTER)
            secure = self._site.is_secure(_host(scope), scope["scheme"])
            await _Answer(scope, send, secure=secure).refuse(TOO_FAST)

    async def _request(self, scope: Any, receive: Receive, send: Send) -> None:
        host = _host(scope)
        answer = _Answer(scope, send, secure=self._site.is_secure(host, scope["scheme"]))
        refused = self._refusal(scope, host)
        if refused is not None:
            await answer.refuse(refused)
            return
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            await self._app(cast(Scope, asked), receive, cast(Send, answer))
        except Exception as error:
            count_error(error)
            if answer.started:
                raise
            log.exception("%s %s failed", scope["method"], scope["path"])
            await answer.refuse(BROKEN)

    def _refusal(self, scope: Any, host: Host | None) -> Refusal | None:
        if host is None:
            return NO_HOST
        if not self._knows(scope, host):
            return OTHER_HOST
        if _is_too_long(scope):
            return TOO_LONG
        if scope["method"] in SAFE_METHODS:
            return None
        if not self._from_the_page(scope, host):
            return FOREIGN
        if not self._limits.allow(WRITES_FROM_ADDRESS, address(scope)):
            return TOO_FAST
        return None

    def _knows(self, scope: Any, host: Host) -> bool:
        return self._site.knows(host, scope["server"][0] if scope.get("server") else "")

    def _from_the_page(self, scope: Any, host: Host) -> bool:
        """Whether a request comes from the page itself, or from a program that no page can steer."""
        if header(scope, b"authorization").startswith("Bearer "):
            return True  # a foreign page cannot add this header
        origins = _values(scope, b"origin")
        if origins:
            return len(origins) == 1 and self._site.may_write(origins[0], host, scope["scheme"])
        # Without either header it is no browser of today; what it has of cookies it was given by its owner.
        return header(scope, b"sec-fetch-site") in ("", "same-origin", "none")

    # ------------------------------------------------------------ WebSockets

    async def _socket(self, scope: Any, receive: Receive, send: Send) -> None:
        refused, asker = self._socket_refusal(scope), address(scope)
        if refused is None and not self._limits.sockets_from_address.take(asker):
            refused = TOO_MANY
        if refused is not None:
            await receive()
            await _refuse_socket(
                scope, send, refused, secure=self._site.is_secure(_host(scope), scope["scheme"])
            )
            return
        try:
            await self._sockets(scope, receive, send)
        finally:
            self._limits.sockets_from_address.release(asker)

    def _socket_refusal(self, scope: Any) -> Refusal | None:
        host = _host(scope)
        if host is None:
            return NO_HOST
        if not self._knows(scope, host):
            return OTHER_HOST
        if _is_too_long(scope):
            return TOO_LONG
        if not self._from_the_page(scope, host):
            return FOREIGN
        return None if self._limits.allow(SOCKETS, address(scope)) else TOO_FAST


def address(scope: Any) -> str:
    """The network that a request comes from: limits are kept for it."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


def header(scope: Any, name: bytes) -> str:
    """A header of a request, empty if it is not there."""
    found = _values(scope, name)
    return found[0] if found else ""


def _values(scope: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_too_long(scope: Any) -> bool:
    query = scope["query_string"]
    return len(scope["path"]) + len(query) > LONGEST_ADDRESS or query.count(b"&") >= MOST_PARAMETERS


def _host(scope: Any) -> Host | None:
    """The host that a request names, `None` if it names none or several."""
    found = _values(scope, b"host")
    return parse_host(found[0]) if len(found) == 1 else None


class _Answer:
    """The `send` of a request: adds headers, and leaves the body out where only the head was asked for."""

    def __init__(self, scope: Any, send: Send, *, secure: bool) -> None:
        self._send = send
        self._secure = secure
        self._head_only = scope["method"] == "HEAD"
        self.started = False

    async def __call__(self, message: Message) -> None:
        changed: Any = message
        if changed["type"] == "http.response.start":
            self.started = True
            headers = [_allowing_head(pair) for pair in changed["headers"]]
            changed = {**changed, "headers": with_headers(headers, secure=self._secure)}
        elif self._head_only and changed["type"] == "http.response.body":
            changed = {**changed, "body": b""}
        await self._send(changed)

    async def refuse(self, why: Refusal) -> None:
        """Answer with an error."""
        count_refusal(why.code)
        headers, body = refusal(why.status, why.code, why.detail)
        await self({"type": "http.response.start", "status": why.status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": False})


def _allowing_head(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """An `allow` header with HEAD, which is answered wherever GET is."""
    name, value = pair
    methods = [method.strip() for method in value.split(b",")] if name == b"allow" else []
    if b"GET" in methods and b"HEAD" not in methods:
        return name, b", ".join(sorted([*methods, b"HEAD"]))
    return pair


async def _refuse_socket(scope: Any, send: Send, why: Refusal, *, secure: bool) -> None:
    count_refusal(why.code)
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 4403, "reason": "refused"})
        return
    headers, body = refusal(why.status, why.code, why.detail)
    start = {
        "type": "websocket.http.response.start",
        "status": why.status,
        "headers": with_headers(headers, secure=secure),
    }
    await send(cast(Message, start))
    await send(cast(Message, {"type": "websocket.http.response.body", "body": body, "more_body": False}))
