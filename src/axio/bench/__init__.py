"""How fast everything is, always as a ratio to a yardstick that runs beside it."""
