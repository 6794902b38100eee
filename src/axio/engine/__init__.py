"""What runs rules: the decorator, the generator for playouts, and the loops every game shares."""
