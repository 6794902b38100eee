"""Builds the files of the web page: `make bundles`."""
