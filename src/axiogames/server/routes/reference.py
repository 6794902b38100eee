"""The HTTP interface as a page to read, made from its schema; no script, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

from litestar.connection import Request
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin

METHODS = ("get", "post", "patch", "put", "delete")


class SchemaFile(JsonRenderPlugin):
    """The schema as JSON, written once."""

    def __init__(self) -> None:
        super().__init__()
        self._text: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the file."""
        if self._text is None:
            self._text = super().render(request, openapi_schema)
        return self._text


class ReferencePage(OpenAPIRenderPlugin):
    """Lists every request with what it takes and what it answers. The page is made once."""

    def __init__(self) -> None:
        super().__init__(path="/")
        self._page: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the page."""
        if self._page is None:
            self._page = self._render(openapi_schema)
        return self._page

    def _render(self, openapi_schema: dict[str, Any]) -> bytes:
        title = escape(f"{openapi_schema['info']['title']}: HTTP interface")
        rows = "".join(
            _row(path, method, operation)
            for path, operations in sorted(openapi_schema["paths"].items())
            for method, operation in operations.items()
            if method in METHODS
        )
        shapes = "".join(
            _shape(name, schema) for name, schema in openapi_schema["components"]["schemas"].items()
        )
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/static/css/base.css">'
            '<link rel="stylesheet" href="/static/css/reference.css"></head>'
            f'<body><main class="reference"><p><a href="/">Home</a></p><h1>{title}</h1>'
            f"<p>{escape(openapi_schema['info']['description'])} "
            '<a href="/schema/openapi.json">openapi.json</a> is for programs.</p>'
            "<h2>Requests</h2>"
            "<table><thead><tr><th>Request</th><th>What it does</th><th>Takes</th><th>Answers</th></tr>"
            "</thead>"
            f"<tbody>{rows}</tbody></table><h2>Shapes</h2>{shapes}</main></body></html>"
        ).encode()


def _row(path: str, method: str, operation: dict[str, Any]) -> str:
    taken = [parameter["name"] for parameter in operation.get("parameters", [])]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    takes = ", ".join(escape(name) for name in taken)
    if body:
        takes += ("; " if takes else "") + _name(body)
    good = [answer for code, answer in operation["responses"].items() if code < "300"]
    content = next(iter(good[0].get("content", {}).items()), None) if good else None
    answers = "" if content is None else _name(content[1].get("schema", {})) or escape(content[0])
    said = escape(operation.get("description", ""))
    return (
        f"<tr><td><code>{method.upper()} {escape(path)}</code></td><td>{said}</td>"
        f"<td>{takes}</td><td>{answers}</td></tr>"
    )


def _name(schema: dict[str, Any]) -> str:
    """What a schema is called, with a link if it is described below."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "oneOf" in schema:
        return " or ".join(_name(one) for one in schema["oneOf"])
    if schema.get("type") == "array":
        return f"list of {_name(schema.get('items', {})) or 'values'}"
    if "const" in schema or "enum" in schema:
        return " or ".join(escape(repr(value)) for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "")
    return escape(" or ".join(kind) if isinstance(kind, list) else str(kind))


def _shape(name: str, schema: dict[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in needed else ' (optional)'}</td>"
        f"<td>{_name(described)}</td></tr>"
        for field, described in schema.get("properties", {}).items()
    )
    return f'<h3 id="{escape(name)}">{escape(name)}</h3><table><tbody>{rows}</tbody></table>' if rows else ""
