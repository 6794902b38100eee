"""What clients are sent: messages, views and lists as JSON."""
