"""Vectors, an optional part of an index: which passages mean what a question means, in whatever words."""
