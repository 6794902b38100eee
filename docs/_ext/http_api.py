"""The directive `http-api`: a table of the HTTP requests of a server, generated from its OpenAPI schema."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

METHODS = ("get", "post", "put", "patch", "delete")


def openapi_schema() -> dict[str, Any]:
    """Return the OpenAPI schema of a server."""
    from litestar import Litestar
    from litestar.di import Provide
    from litestar.openapi import OpenAPIConfig

    from axiogames import PROGRAM, __version__
    from axiogames.server import app

    server = Litestar(
        list(app.ROUTES),
        dependencies={
            "server": Provide(app.provide_server, sync_to_thread=False),
            "person": Provide(app.provide_person),
        },
        openapi_config=OpenAPIConfig(PROGRAM, __version__, use_handler_docstrings=True),
    )
    schema: dict[str, Any] = server.openapi_schema.to_schema()
    return schema


class HttpApi(Directive):
    """A table with one row per request: method and path, parameters, and summary."""

    has_content = False
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        body = nodes.tbody()
        for path, operations in sorted(openapi_schema()["paths"].items()):
            for method in METHODS:
                if operation := operations.get(method):
                    body += _request_row(f"{method.upper()} {path}", operation)
        group = nodes.tgroup("", cols=3)
        group += [nodes.colspec(colwidth=width) for width in (35, 25, 40)]
        head = nodes.thead()
        head += _cells("Request", "Query parameters", "Description")
        group += [head, body]
        return [nodes.table("", group)]


def _request_row(request: str, operation: dict[str, Any]) -> nodes.row:
    parameters = [
        parameter["name"] + ("" if parameter.get("required") else "?")
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    text = operation.get("description") or operation.get("summary") or ""
    return _cells(f"`{request}`", ", ".join(parameters), text.partition("\n\n")[0])


def _cells(*texts: str) -> nodes.row:
    """Return a table row with a cell per text. Text between backticks becomes code."""
    row = nodes.row()
    for text in texts:
        parts = enumerate(text.split("`"))
        content = [nodes.literal("", part) if n % 2 else nodes.Text(part) for n, part in parts if part]
        row += nodes.entry("", nodes.paragraph("", "", *content))
    return row


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("http-api", HttpApi)
    return {"parallel_read_safe": True}
