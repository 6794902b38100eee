"""Positions, views, tables and records, with their events and text formats."""
