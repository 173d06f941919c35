"""Pure types and rules of the field. Standard library only; nothing here reads a file, a clock or a network."""
