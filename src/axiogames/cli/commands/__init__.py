"""The commands, one module each, with a `command` in it."""
