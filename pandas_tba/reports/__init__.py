"""Counts go in; a report as text, Markdown or one HTML page comes out."""
