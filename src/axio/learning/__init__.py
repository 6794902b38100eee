"""Learning a game by playing it against oneself: how the files come about that `search.minds` reads."""
