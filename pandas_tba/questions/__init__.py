"""Counts and the arguments of one question go in; the table that answers it comes out.

One file a question: scores, intervals, models, groups, gates, slices, exponents, thresholds.
"""
