"""Sample predictions that come with the package, for examples and tests."""

from __future__ import annotations

from importlib import resources

import pandas as pd

_LABELS = ["<=50K", ">50K"]
_CATEGORIES = {
    "y_true": _LABELS,
    "logit": _LABELS,
    "balanced": _LABELS,
    "forest": _LABELS,
    "sex": ["Female", "Male"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "age_group": ["17-24", "25-34", "35-44", "45-54", "55-64", "65+"],
    "education": [
        "No diploma",
        "High school",
        "Some college",
        "Associate",
        "Bachelor",
        "Advanced",
    ],
}


def load_income() -> pd.DataFrame:
    """Return what three classifiers say about the income of 4,000 people, one row each.

    The people answered a census of the United States in 1994. Whether a person earns more than
    50,000 dollars a year is predicted by three scikit-learn models, none of which saw these
    people before. About 11 % of the women do and 31 % of the men.

    Returns
    -------
    pandas.DataFrame
        A new frame at each call, 4,000 rows, nothing missing. All columns but ``p_logit`` are
        categories:

        - ``y_true``: the income, ``"<=50K"`` or ``">50K"`` dollars a year;
        - ``logit``: the label a logistic regression predicts;
        - ``balanced``: the same with balanced class weights;
        - ``forest``: the label a random forest predicts;
        - ``p_logit``: the logistic regression's probability of ``">50K"``, from 0 to 1 with four
          digits; ``logit`` is ``">50K"`` exactly where it is at least 0.5;
        - ``sex`` and ``race``: as the census has them; the models do not use them;
        - ``age_group``: the age in years, six ordered bands;
        - ``education``: the highest level reached, six levels.

    References
    ----------
    Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
    https://doi.org/10.24432/C5XW20. Licence: CC BY 4.0; what was changed is in
    ``pandas_tba/data/README.md``.

    Examples
    --------
    >>> from pandas_tba.datasets import load_income
    >>> income = load_income()
    >>> income.shape
    (4000, 9)
    >>> income["y_true"].eq(">50K").groupby(income["sex"], observed=True).mean().round(3).to_dict()
    {'Female': 0.114, 'Male': 0.313}
    """
    file = resources.files("pandas_tba") / "data" / "income.csv.gz"
    with file.open("rb") as packed:
        income = pd.read_csv(packed, compression="gzip")
    dtypes = {
        name: pd.CategoricalDtype(categories, ordered=name == "age_group")
        for name, categories in _CATEGORIES.items()
    }
    return income.astype(dtypes)
