"""A trace as a document for others: Markdown, DOCX, CSV, JSON, OpenTelemetry. One report, so one numbering.

What a document, a question or a model wrote is taken for hostile: `escape.py` says what becomes of it in each format.
"""
