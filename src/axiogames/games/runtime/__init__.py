"""The runtime of rule code: compiler decorators, the compile cache, and loops that all games share."""
