"""Arguments of the command ``pandas-tba`` and files go in; printed answers and exit codes come out."""
