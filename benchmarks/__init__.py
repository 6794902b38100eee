"""Measurements that only developers run: of the server, the search, other engines and playing strength."""
