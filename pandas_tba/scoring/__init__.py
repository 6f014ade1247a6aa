"""Counts go in; values of metrics, class weights and the reasons of undefined values come out.

METRICS is the table of all metrics; what the tables of results share is here too.
"""
