"""Benchmarks for developers: the server, the search, other engines, and playing strength."""
