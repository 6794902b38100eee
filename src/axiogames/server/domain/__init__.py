"""Tables in play: entries, game state, rooms, bots and reviews."""
