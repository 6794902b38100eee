"""Run the command line with `python -m axiogames`."""

from .cli import main

# Worker processes import this module again under another name.
if __name__ == "__main__":
    raise SystemExit(main())
