"""The gate in front of the application: origins, pace and protective headers, for HTTP and WebSockets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from .limits import SOCKETS, WRITES_FROM_ADDRESS, Limits

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
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


def gate(app: ASGIApp, *, sockets: ASGIApp, origins: Iterable[str], limits: Limits) -> ASGIApp:
    """The application behind its gate, and the one for WebSockets."""
    allowed = frozenset(origin.rstrip("/") for origin in origins)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        kind = str(scope["type"])
        if kind == "http":
            refusal = _refusal(scope, allowed, limits)
            protected = _with_headers(send)
            if refusal:
                await _answer(protected, *refusal)
            else:
                await app(scope, receive, protected)
        elif kind == "websocket":
            if not _same_origin(scope, allowed) or not limits.allow(SOCKETS, address(scope)):
                await receive()
                await send({"type": "websocket.close", "code": 4403, "reason": "refused"})
            else:
                await sockets(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guarded


def address(scope: Any) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return client[0] if client else ""


def header(scope: Any, name: bytes) -> str:
    """A header of a request, empty if it is not there."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


def _refusal(scope: Any, allowed: frozenset[str], limits: Limits) -> tuple[int, str, str] | None:
    if scope["method"] in SAFE_METHODS:
        return None
    if not _same_origin(scope, allowed):
        return 403, "foreign_origin", "this request did not come from the page of this server"
    if not limits.allow(WRITES_FROM_ADDRESS, address(scope)):
        return 429, "too_fast", "too many requests from this address; wait a moment and try again"
    return None


def _same_origin(scope: Any, allowed: frozenset[str]) -> bool:
    """Whether a request comes from the page itself, or from a program that no page can steer."""
    if header(scope, b"authorization").startswith("Bearer "):
        return True  # a foreign page cannot add this header
    origin = header(scope, b"origin")
    if origin:
        return origin in allowed or urlsplit(origin).netloc == header(scope, b"host")
    site = header(scope, b"sec-fetch-site")
    # Without either header it is no browser of today; what it has of cookies it was given by its owner.
    return site in ("", "same-origin", "none")


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {key for key, _ in message["headers"]}
            extra = [(key, value) for key, value in HEADERS if key not in present]
            message["headers"] = [*message["headers"], *extra]
        await send(message)

    return sending


async def _answer(send: Send, status: int, code: str, detail: str) -> None:
    body = json.dumps({"status_code": status, "code": code, "detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 429:
        headers.append((b"retry-after", b"5"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
