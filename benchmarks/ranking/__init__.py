"""The parts of `benchmarks/retrieval.py`: question files, gold passages, metrics, the systems that are compared."""
