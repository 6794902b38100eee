"""Training of the evaluation by self-play."""
