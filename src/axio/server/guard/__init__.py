"""What every request has to pass: its origin, its pace, and the headers that protect the page."""
