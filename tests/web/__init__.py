"""Tests of the page: its files, and its behaviour in a real browser."""
