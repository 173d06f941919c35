"""Readers, one file per format: bytes to blocks. `registry.reader_for` picks one."""
