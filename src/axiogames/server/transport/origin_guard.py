"""ASGI middleware for HTTP and WebSockets: checks hosts, origins and rates, and adds security headers."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from ...web.pages import script_hash
from ..metrics import count_error, count_refusal
from ..settings import Settings
from .fair_share import REFUSAL_DELAY, TooMuchLoad
from .hosts import Host, Site, TrustedProxies, network_of, parse_host
from .rate_limits import SOCKETS, WRITES_FROM_ADDRESS, RateLimits

MAX_URL_LENGTH, MAX_PARAMETERS = 1_000, 20  # of a request; the framework caches a thousand URLs
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CONTENT_POLICY = (
    f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {script_hash()}; style-src 'self'; "
    "img-src 'self' data: blob:; "
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

Headers = list[tuple[bytes, bytes]]

log = logging.getLogger(__name__)


def with_security_headers(headers: Iterable[tuple[bytes, bytes]], *, secure: bool) -> Headers:
    """Return the headers of a response with security headers added.

    A response without `cache-control` is not cached, since it may depend on the person. On a site with HTTPS,
    cookies are sent over HTTPS only.
    """
    kept = list(headers)
    names = {name for name, _ in kept}
    extra = [pair for pair in HEADERS if pair[0] not in names]
    if secure:
        extra.append(HSTS)
        kept = [_with_secure_cookie(pair) for pair in kept]
    if b"set-cookie" in names:
        kept = [pair for pair in kept if pair[0] != b"cache-control"]
        names.discard(b"cache-control")
    if b"cache-control" not in names:
        extra += [(b"cache-control", NO_STORE), (b"vary", b"cookie, authorization")]
    return _with_joined_vary([*kept, *extra])


def _with_secure_cookie(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = pair
    if name != b"set-cookie" or b"; secure" in value.lower():
        return pair
    return name, value + b"; Secure"


def _with_joined_vary(headers: Headers) -> Headers:
    """Return the headers with all `vary` headers joined into one."""
    vary = [value for name, value in headers if name == b"vary"]
    if len(vary) < 2:
        return headers
    return [*(pair for pair in headers if pair[0] != b"vary"), (b"vary", b", ".join(vary))]


def error_response(status: int, code: str, detail: str) -> tuple[Headers, bytes]:
    """Return the headers and the JSON body of an error."""
    body = json.dumps({"status_code": status, "code": code, "detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in (429, 503):
        headers.append((b"retry-after", b"5"))
    return headers, body


@dataclass(frozen=True, slots=True)
class Refusal:
    """Error response to a request that is not passed to the application."""

    status: int
    code: str
    detail: str


MISSING_HOST = Refusal(400, "bad_request", "a request needs one Host header with the name of this server")
UNKNOWN_HOST = Refusal(
    421,
    "unknown_host",
    "this server does not have that name; its host can add it with --allow-host NAME (or --origin URL)",
)
TOO_LONG = Refusal(
    414,
    "too_large",
    f"an address has at most {MAX_URL_LENGTH:,} characters and {MAX_PARAMETERS} parameters",
)
FOREIGN_ORIGIN = Refusal(403, "foreign_origin", "this request did not come from the page of this server")
TOO_FAST = Refusal(429, "too_fast", "too many requests from this address; wait a moment and try again")
TOO_MANY = Refusal(429, "too_fast", "too many connections from this address; close some of them")
INTERNAL_ERROR = Refusal(500, "broken", "internal error; try again in a moment")


def guard(app: ASGIApp, *, sockets: ASGIApp, settings: Settings, limits: RateLimits) -> ASGIApp:
    """Return an ASGI application that guards `app`, and `sockets` for WebSockets."""
    return cast(ASGIApp, OriginGuard(app, sockets, settings, limits))


class OriginGuard:
    """Passes requests to the application, or answers them with an error."""

    def __init__(self, app: ASGIApp, sockets: ASGIApp, settings: Settings, limits: RateLimits) -> None:
        self._app = app
        self._sockets = sockets
        self._limits = limits
        self._site = Site(settings.host, settings.origins, settings.allowed_hosts)
        self._proxies = TrustedProxies(settings.proxies)
        self._warned = False

    def __call__(self, scope: Any, receive: Receive, send: Send) -> Awaitable[None]:
        # Not a coroutine function: every message of a WebSocket would pass through an extra coroutine.
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            return self._app(scope, receive, send)
        self._read_forwarded_headers(scope)
        handler = self._charged_request if kind == "http" else self._websocket
        return handler(scope, receive, send)

    def _read_forwarded_headers(self, scope: Any) -> None:
        """Take the address and scheme of the client from the headers of a trusted proxy."""
        peer = scope["client"][0] if scope.get("client") else ""
        forwarded = b", ".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
        if not self._proxies.trusts(peer):
            if forwarded and not self._warned:
                self._warned = True
                log.warning("X-Forwarded-For is ignored: the peer is not a proxy named with --proxy")
            return
        if forwarded:
            scope["client"] = (self._proxies.client(peer, forwarded.decode("latin-1")), 0)
        scheme = header(scope, b"x-forwarded-proto").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme if scope["type"] == "http" else scheme.replace("http", "ws")

    # ------------------------------------------------------------ HTTP

    async def _charged_request(self, scope: Any, receive: Receive, send: Send) -> None:
        """Handle a request and charge it to its network, or refuse it if that network is overloaded."""
        try:
            await self._limits.loop.run(client_network(scope), partial(self._request, scope, receive, send))
        except TooMuchLoad:
            # Delayed: otherwise the client would repeat the request at once, and refusals are not charged.
            await self._limits.loop.sleep(REFUSAL_DELAY)
            secure = self._site.is_secure(_host(scope), scope["scheme"])
            await _Response(scope, send, secure=secure).refuse(TOO_FAST)

    async def _request(self, scope: Any, receive: Receive, send: Send) -> None:
        host = _host(scope)
        response = _Response(scope, send, secure=self._site.is_secure(host, scope["scheme"]))
        refused = self._refusal(scope, host)
        if refused is not None:
            await response.refuse(refused)
            return
        passed = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            await self._app(cast(Scope, passed), receive, cast(Send, response))
        except Exception as error:
            count_error(error)
            if response.started:
                raise
            log.exception("%s %s failed", scope["method"], scope["path"])
            await response.refuse(INTERNAL_ERROR)

    def _refusal(self, scope: Any, host: Host | None) -> Refusal | None:
        if host is None:
            return MISSING_HOST
        if not self._is_known_host(scope, host):
            return UNKNOWN_HOST
        if _is_too_long(scope):
            return TOO_LONG
        if scope["method"] in SAFE_METHODS:
            return None
        if not self._is_same_origin(scope, host):
            return FOREIGN_ORIGIN
        if not self._limits.allow(WRITES_FROM_ADDRESS, client_network(scope)):
            return TOO_FAST
        return None

    def _is_known_host(self, scope: Any, host: Host) -> bool:
        return self._site.knows(host, scope["server"][0] if scope.get("server") else "")

    def _is_same_origin(self, scope: Any, host: Host) -> bool:
        """Return whether a request comes from our page, or from a program that is not a browser."""
        if header(scope, b"authorization").startswith("Bearer "):
            return True  # a foreign page cannot add this header
        origins = _values(scope, b"origin")
        if origins:
            return len(origins) == 1 and self._site.may_write(origins[0], host, scope["scheme"])
        # A client that sends neither header is not a current browser; it has got its cookies from its owner.
        return header(scope, b"sec-fetch-site") in ("", "same-origin", "none")

    # ------------------------------------------------------------ WebSockets

    async def _websocket(self, scope: Any, receive: Receive, send: Send) -> None:
        refused, network = self._websocket_refusal(scope), client_network(scope)
        if refused is None and not self._limits.sockets_from_address.take(network):
            refused = TOO_MANY
        if refused is not None:
            await receive()
            await _refuse_websocket(
                scope, send, refused, secure=self._site.is_secure(_host(scope), scope["scheme"])
            )
            return
        try:
            await self._sockets(scope, receive, send)
        finally:
            self._limits.sockets_from_address.release(network)

    def _websocket_refusal(self, scope: Any) -> Refusal | None:
        host = _host(scope)
        if host is None:
            return MISSING_HOST
        if not self._is_known_host(scope, host):
            return UNKNOWN_HOST
        if _is_too_long(scope):
            return TOO_LONG
        if not self._is_same_origin(scope, host):
            return FOREIGN_ORIGIN
        return None if self._limits.allow(SOCKETS, client_network(scope)) else TOO_FAST


def client_network(scope: Any) -> str:
    """Return the network of a client, for which limits are counted."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


def header(scope: Any, name: bytes) -> str:
    """Return a header of a request, empty if it is missing."""
    found = _values(scope, name)
    return found[0] if found else ""


def _values(scope: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_too_long(scope: Any) -> bool:
    query = scope["query_string"]
    return len(scope["path"]) + len(query) > MAX_URL_LENGTH or query.count(b"&") >= MAX_PARAMETERS


def _host(scope: Any) -> Host | None:
    """Return the host of a request, `None` without exactly one valid `Host` header."""
    found = _values(scope, b"host")
    return parse_host(found[0]) if len(found) == 1 else None


class _Response:
    """The `send` of a request: adds headers, and omits the body of responses to HEAD."""

    def __init__(self, scope: Any, send: Send, *, secure: bool) -> None:
        self._send = send
        self._secure = secure
        self._head_only = scope["method"] == "HEAD"
        self.started = False

    async def __call__(self, message: Message) -> None:
        changed: Any = message
        if changed["type"] == "http.response.start":
            self.started = True
            headers = [_with_head_allowed(pair) for pair in changed["headers"]]
            changed = {**changed, "headers": with_security_headers(headers, secure=self._secure)}
        elif self._head_only and changed["type"] == "http.response.body":
            changed = {**changed, "body": b""}
        await self._send(changed)

    async def refuse(self, refusal: Refusal) -> None:
        """Send an error response."""
        count_refusal(refusal.code)
        headers, body = error_response(refusal.status, refusal.code, refusal.detail)
        await self({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": False})


def _with_head_allowed(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Add HEAD to an `allow` header with GET: every GET route answers it."""
    name, value = pair
    methods = [method.strip() for method in value.split(b",")] if name == b"allow" else []
    if b"GET" in methods and b"HEAD" not in methods:
        return name, b", ".join(sorted([*methods, b"HEAD"]))
    return pair


async def _refuse_websocket(scope: Any, send: Send, refusal: Refusal, *, secure: bool) -> None:
    count_refusal(refusal.code)
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 4403, "reason": "refused"})
        return
    headers, body = error_response(refusal.status, refusal.code, refusal.detail)
    start = {
        "type": "websocket.http.response.start",
        "status": refusal.status,
        "headers": with_security_headers(headers, secure=secure),
    }
    await send(cast(Message, start))
    await send(cast(Message, {"type": "websocket.http.response.body", "body": body, "more_body": False}))
