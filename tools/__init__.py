"""Programs that only developers run: they build committed files of the package."""
