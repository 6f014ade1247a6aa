"""The bundled sample is what its docstring says."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from pandas_tba.datasets import load_income

MODELS = ["logit", "balanced", "forest"]
GROUPS = ["sex", "race", "age_group", "education"]
COLUMNS = ["y_true", *MODELS, "p_logit", *GROUPS]

SIZES = {
    "sex": {"Female": 1300, "Male": 2700},
    "race": {
        "Amer-Indian-Eskimo": 34,
        "Asian-Pac-Islander": 113,
        "Black": 400,
        "Other": 33,
        "White": 3420,
    },
    "age_group": {
        "17-24": 681,
        "25-34": 1021,
        "35-44": 1003,
        "45-54": 763,
        "55-64": 389,
        "65+": 143,
    },
    "education": {
        "No diploma": 489,
        "High school": 1316,
        "Some college": 916,
        "Associate": 290,
        "Bachelor": 651,
        "Advanced": 338,
    },
}


@pytest.fixture
def income() -> pd.DataFrame:
    return load_income()


def recalls(income: pd.DataFrame, model: str) -> pd.Series:
    right = income[model] == income["y_true"]
    return right.groupby(income["y_true"], observed=True).mean()


def test_columns_come_in_the_documented_order(income: pd.DataFrame) -> None:
    assert list(income.columns) == COLUMNS


def test_shape_index_and_nothing_missing(income: pd.DataFrame) -> None:
    assert income.shape == (4000, len(COLUMNS))
    assert income.index.equals(pd.RangeIndex(4000))
    assert not income.isna().any(axis=None)


def test_file_is_small() -> None:
    file = resources.files("pandas_tba") / "data" / "income.csv.gz"
    assert len(file.read_bytes()) < 150_000


@pytest.mark.parametrize("column", ["y_true", *MODELS])
def test_labels_share_their_categories(income: pd.DataFrame, column: str) -> None:
    assert income[column].dtype == pd.CategoricalDtype(["<=50K", ">50K"])
    assert income[column].nunique() == 2


@pytest.mark.parametrize("column", GROUPS)
def test_group_columns_and_the_size_of_each_group(income: pd.DataFrame, column: str) -> None:
    dtype = income[column].dtype
    assert isinstance(dtype, pd.CategoricalDtype)
    assert dtype.ordered == (column == "age_group")
    sizes = income[column].value_counts(sort=False)
    assert list(sizes.index) == list(SIZES[column])
    assert sizes.to_dict() == SIZES[column]


@pytest.mark.parametrize(("sex", "prevalence"), [("Female", 0.11), ("Male", 0.31)])
def test_prevalence_differs_by_sex(income: pd.DataFrame, sex: str, prevalence: float) -> None:
    rich = income.loc[income["sex"] == sex, "y_true"] == ">50K"
    assert rich.mean() == pytest.approx(prevalence, abs=0.01)


def test_label_of_logit_follows_from_its_probability(income: pd.DataFrame) -> None:
    probability = income["p_logit"]
    assert probability.dtype == np.float64
    assert probability.between(0, 1).all()
    assert (probability == [float(f"{value:.4f}") for value in probability]).all()
    assert ((income["logit"] == ">50K") == (probability >= 0.5)).all()


def test_accuracy_and_balanced_accuracy_rank_the_models_in_opposite_order(
    income: pd.DataFrame,
) -> None:
    accuracy = {model: (income[model] == income["y_true"]).mean() for model in MODELS}
    balanced_accuracy = {model: recalls(income, model).mean() for model in MODELS}
    assert sorted(MODELS, key=accuracy.__getitem__) == ["balanced", "logit", "forest"]
    assert sorted(MODELS, key=balanced_accuracy.__getitem__) == ["forest", "logit", "balanced"]


def test_each_call_gives_a_frame_of_its_own(income: pd.DataFrame) -> None:
    income["p_logit"] = 0.0
    income.loc[:, "sex"] = "Male"
    again = load_income()
    assert again["p_logit"].max() > 0
    assert set(again["sex"]) == {"Female", "Male"}


def test_loading_needs_no_scikit_learn() -> None:
    code = (
        "import sys; from pandas_tba.datasets import load_income; load_income(); "
        "sys.exit('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0
