"""Game server: HTTP and WebSocket interface to tables that are stored in a database."""
