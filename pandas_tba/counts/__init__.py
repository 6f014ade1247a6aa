"""Rows by group, true and predicted label go in; ConfusionCounts and PairedCounts come out.

They add up, roll up, and go to tables that keep them without loss and back.
"""
