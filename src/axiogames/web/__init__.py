"""The web page: its sources, the bundles that are served, and the rendering of its HTML."""
