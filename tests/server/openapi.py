"""Schemathesis run against a server: requests that its schema allows, and requests that it forbids.

`python -m tests.server.openapi --examples 300` is the long run, tests/server/test_openapi.py the short one.
Schemathesis runs as a separate process and loads this module, whose hooks fill in existing names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import click
import msgspec
import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection

from axiogames.games import GAMES, figures
from axiogames.players import PLAYERS
from axiogames.server.routes.identity import SignOutRequest
from axiogames.server.routes.tables import JoinRequest, MoveRequest, TableRequest
from tests.server.clients import Guest
from tests.server.driving import start_server

URL_VARIABLE = "AXIO_OPENAPI_URL"  # environment variable with the URL of the server
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "wrong_data_is_rejected",
    "unsupported_method",
)


def run(url: str, examples: int, seed: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run Schemathesis against a URL; exit code 0 if all responses match the schema.

    Without a seed the examples are the same every time.
    """
    program = Path(sys.executable).with_name("schemathesis")
    options = {
        "--checks": ",".join(CHECKS),
        "--phases": "examples,coverage,fuzzing",
        "--max-examples": str(examples),
        "--suppress-health-check": "all",
        "--warnings": "off",
    }
    command = [str(program), "run", f"{url}/schema/openapi.json"]
    command += ["--generation-deterministic"] if seed is None else ["--seed", str(seed)]
    command += [part for option in options.items() for part in option]
    with tempfile.TemporaryDirectory() as folder:  # for its working files
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={
                **os.environ,
                URL_VARIABLE: url,
                "SCHEMATHESIS_HOOKS": f"{__package__}.openapi",
                "PYTHONPATH": str(Path(__file__).parents[2]),
                "PYTHONWARNINGS": "default",
            },
        )


# ---------------------------------------------------------------- inside Schemathesis

BODIES = {
    "POST /api/me/leave": SignOutRequest,
    "POST /api/tables": TableRequest,
    "POST /api/tables/{table_id}/join": JoinRequest,
    "POST /api/tables/{table_id}/moves": MoveRequest,
}


class ApiClient:
    """Client for one operation, with tables of its own to get past "no such table"."""

    def __init__(self, url: str) -> None:
        self._guest = Guest(url, "Ann")
        self._url = url
        self._calls = 0

    @cached_property
    def _tables(self) -> list[str]:
        seats = (["me", "open"], ["me", "greedy"], ["open", "me", "open"], ["me"])
        finished = self._guest.open("trio", ["me"]).id
        with self._guest.live(finished) as live:
            live.play_to_end()
        return [*(self._guest.open("axio", kinds).id for kinds in seats), finished, "no-such-table"]

    @property
    def token(self) -> str:
        return self._guest.token

    def table(self) -> str:
        """Return a table id, cycling through all kinds."""
        return self.cycle(self._tables)

    def cycle(self, choices: list[str]) -> str:
        """Return the next of the choices, cyclically."""
        self._calls += 1
        return choices[self._calls % len(choices)]


@cache
def api_client(label: str) -> ApiClient:
    """Return the client for an operation, always the same one."""
    return ApiClient(os.environ[URL_VARIABLE])


if URL_VARIABLE in os.environ:

    @schemathesis.hook
    def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        """Use mostly existing names in paths."""
        client = api_client(context.operation.label)
        known: dict[str, Callable[[], str]] = {
            "table_id": client.table,
            "name": lambda: client.cycle([*GAMES, "chess"]),
            "figure_name": lambda: client.cycle([*figures(GAMES[0]), "nothing"]),
        }
        parameters = path_parameters or {}
        return {name: known[name]() if name in known else value for name, value in parameters.items()}

    @schemathesis.hook
    def map_body(context: Any, body: Any) -> Any:
        """Use mostly existing names in bodies; deliberately wrong values stay."""
        if not isinstance(body, dict):
            return body
        for name, choices in {"game": [*GAMES, "chess"], "level": [*PLAYERS, "strong"]}.items():
            if isinstance(body.get(name), str):
                body[name] = api_client(context.operation.label).cycle(choices)
        if isinstance(body.get("seats"), list):
            body["seats"] = [map_body(context, seat) for seat in body["seats"]]
        options = body.get("options")
        if isinstance(options, dict) and all(isinstance(value, bool) for value in options.values()):
            body["options"] = {}
        return body

    @schemathesis.hook
    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        """Authenticate every request."""
        label = case.operation.label
        # Signing out everywhere invalidates the token, so use a new client.
        client = ApiClient(os.environ[URL_VARIABLE]) if label == "POST /api/me/leave" else api_client(label)
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {client.token}"}

    @schemathesis.check
    def wrong_data_is_rejected(context: Any, response: Any, case: Any) -> bool | None:
        """Check that invalid data are rejected, except those that convert leniently, such as "3" for 3."""
        body_type = BODIES.get(case.operation.label)
        if body_type is not None and response.status_code < 400:
            try:
                msgspec.convert(case.body, body_type, strict=False)
                return None
            except msgspec.ValidationError:
                pass
        rejected: bool | None = negative_data_rejection(context, response, case)
        return rejected


# ---------------------------------------------------------------- the long run


@click.command()
@click.option(
    "--examples", type=click.IntRange(1), default=300, show_default=True, help="Examples per operation."
)
@click.option("--seed", type=int, help="Random seed. Without it, the examples are always the same.")
def command(examples: int, seed: int | None) -> None:
    """Run Schemathesis against a fresh server."""
    with tempfile.TemporaryDirectory() as folder, start_server(Path(folder)) as server:
        result = run(server.url, examples, seed)
    click.echo(result.stdout + result.stderr)
    sys.exit(result.returncode)


if __name__ == "__main__":
    command()
