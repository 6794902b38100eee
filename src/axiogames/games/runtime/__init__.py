"""What runs rules: the decorator, the compile cache, and the loops that all games share."""
