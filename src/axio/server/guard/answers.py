"""Headers that protect the page, and the answers that are given before the application is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable

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
