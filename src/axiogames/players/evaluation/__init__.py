"""How positions are evaluated: utility, features, network and rollouts."""
