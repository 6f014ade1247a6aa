from typing import cast

import pandas as pd

import pandas_tba as tba

income = tba.load_income()
forest = tba.TbaAccessor(income)(y_pred="forest")
table: pd.DataFrame = forest.metrics(by="sex")

# or say once what it is
accessor = cast(tba.TbaAccessor, income.tba)
same: pd.DataFrame = accessor(y_pred="forest").metrics(by="sex")
