"""A bot for the server: creates a guest, opens or joins a table, and always takes the most points.

Usage: python examples/bot.py http://127.0.0.1:8000 axio
"""

import argparse
import json
import urllib.request

from websockets.sync.client import connect

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("server", help="address of the server, such as http://127.0.0.1:8000")
options.add_argument("game", nargs="?", default="axio")
options.add_argument("--join", metavar="ID", help="join this open public table instead of opening one")
arguments = options.parse_args()


def post(path: str, body: object, token: str = "") -> dict:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(arguments.server + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))


token, table = post("/api/guests", {"name": "Example bot"})["token"], arguments.join
if table:
    post(f"/api/tables/{table}/join", {}, token)
else:
    bots = json.load(urllib.request.urlopen(f"{arguments.server}/api/bots"))
    rival = {"kind": "bot", "level": next(bot["level"] for bot in bots if bot["default"])}
    table = post("/api/tables", {"game": arguments.game, "seats": [{"kind": "me"}, rival]}, token)["id"]
live, headers = f"ws{arguments.server[4:]}/api/tables/{table}/live", {"Authorization": f"Bearer {token}"}
with connect(live, additional_headers=headers, max_size=None) as socket:
    for message in map(json.loads, socket):
        if message.get("moves"):
            gains = [sum(gain) for gain in message["moves"]["gain"]]
            pick = gains.index(max(gains)) if gains else 0
            socket.send(json.dumps({"do": "move", "id": str(message["n"]), "n": message["n"], "pick": pick}))
        now = message.get("now", {})
        if now.get("result") or now.get("phase") == "closed":
            print(json.dumps(now.get("result")))
            break
