"""Pure language primitives: folding, spans, Spanish numbers and dates, provision paths. Standard library only."""
