import pandas as pd

import pandas_tba as tba

income = tba.load_income()
forest = tba.TbaAccessor(income)(y_pred="forest")
table: pd.DataFrame = forest.metrics(by="sex")
at_one_t: float | pd.Series = forest.score(t=0.5)  # a Series where there are groups or models
over_t: pd.Series | pd.DataFrame = forest.score(t=[0, 0.5, 1])

counts: tba.ConfusionCounts = forest.counts(by="sex")
of_counts: float | pd.Series = tba.score(counts, t=0)
of_arrays: float = tba.tempered_balanced_accuracy_score(income["y_true"], income["forest"], t=0)
limits: pd.DataFrame = tba.interval(counts, t=0.5)
text: str = forest.report(t=0).to_markdown()
