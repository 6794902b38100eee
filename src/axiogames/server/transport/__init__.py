"""Bounded HTTP and WebSockets: protocol classes, hosts and origins, rate limits, commands of clients."""
