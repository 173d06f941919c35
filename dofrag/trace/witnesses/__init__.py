"""What a trace says of itself in several places, held together: each witness follows one thing through the events."""
