"""Messages, views and lists that the server sends as JSON."""
