"""Names of columns that the simulation reads, each in one place."""

P_EQUAL_RECALLS = "p_value"  # of compare: equal recall in every class
P_NO_DIFFERENCE = "p_difference"  # of compare: the difference is 0
P_NOT_INFERIOR = "p_noninferior"  # of compare(margin=)
P_EQUIVALENT = "p_equivalent"
P_ROW = "p_value"  # of disparity and slices
P_FAMILY = "p_adjusted"
GAP_CORRECTED = "gap_corrected"  # of gap: the estimate less its bias
