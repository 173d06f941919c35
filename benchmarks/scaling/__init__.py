"""The stages of scale.py, each in a process of its own."""
