"""dofrag: a research agent over a legal gazette that knows when it is missing evidence."""

__version__ = "0.1.0"
