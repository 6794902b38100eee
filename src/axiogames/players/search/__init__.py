"""Search: determinizations, rollouts, sequential halving, and the analysis built from them."""
