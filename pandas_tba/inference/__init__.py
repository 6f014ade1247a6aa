"""Arrays of counts go in; standard errors, limits, posteriors and p-values come out.

Arrays in, arrays out: no frames, no display.
"""
