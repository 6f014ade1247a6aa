"""Simulation of what the public functions claim about rates: coverage, false positives, verdicts."""
