"""What makes a gazette a gazette: language and local knowledge as data, behind one interface."""
