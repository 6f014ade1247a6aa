"""Counts go in; figures of matplotlib come out."""
