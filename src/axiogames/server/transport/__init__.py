"""HTTP and WebSockets within bounds: protocol classes, origins, hosts, rates, messages received."""
