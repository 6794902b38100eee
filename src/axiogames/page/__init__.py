"""What the page needs to know of a game, as JSON. None of it needs a server."""
