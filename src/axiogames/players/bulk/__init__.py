"""Whole games of simple bots in compiled code, for many games at a time."""
