"""The record of a run: a closed set of events, one JSON line each, chained by hash. Format: docs/trace-format.md."""
