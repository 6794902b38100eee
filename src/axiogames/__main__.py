"""Lets `python -m` run the command line."""

from .cli import main

# Worker processes import this module again, under another name.
if __name__ == "__main__":
    raise SystemExit(main())
