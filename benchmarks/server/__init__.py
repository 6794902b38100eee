"""The server under load, with real clients and databases."""
