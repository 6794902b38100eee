"""People, their names, sessions and data."""
