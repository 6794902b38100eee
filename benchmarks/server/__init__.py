"""Load tests of the server, with real clients and databases."""
