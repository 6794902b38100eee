"""Study and experiments: reviews, arenas, datasets, a solver and a benchmark."""
