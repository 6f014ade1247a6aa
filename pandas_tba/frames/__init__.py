"""A frame of predictions and the names of its columns go in; roles, labels, keys and codes come out.

Every check of a column and of an argument about the data is here, and the pandera schema.
"""
