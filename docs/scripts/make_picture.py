"""Draw docs/_static/curve.png, the picture of the README: python docs/scripts/make_picture.py."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import pandas_tba as tba

TARGET = Path(__file__).parents[1] / "_static" / "curve.png"
# Okabe and Ito's colours, which people with any kind of colour vision can tell apart
MODELS = {"balanced": ("#0072B2", "-"), "logit": ("#D55E00", "--"), "forest": ("#009E73", "-.")}
GREY = "#6b6b6b"

income = tba.load_income()
t = np.linspace(-1, 1, 101)
counts = income.tba(y_pred=list(MODELS)).counts()
curves = tba.score(counts, t=t)
majority = tba.metrics(counts, metrics="majority", t=t)["majority"].xs("logit", level="model")

plt.rcParams["font.size"] = 10
figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
for place, name in ((0, "t = 0\nbalanced accuracy"), (1, "t = 1\naccuracy")):
    axes.axvline(place, color="#d0d0d0", linewidth=1, zorder=0)
    axes.text(place, 0.955, name, ha="center", va="bottom", color="#333333", linespacing=1.3)
axes.axhline(0.5, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
axes.text(-0.98, 0.507, "chance, 1/2", color=GREY)
axes.plot(t, majority, color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
axes.text(0.42, 0.56, "always the larger class", color=GREY, va="center")
for name, (colour, style) in MODELS.items():
    curve = curves.loc[name]
    axes.plot(t, curve, color=colour, linestyle=style, linewidth=2.2)
    axes.text(-1.03, curve.iloc[0], name, color=colour, ha="right", va="center", weight="bold")
axes.set(xlim=(-1, 1), ylim=(0.2, 0.95), xticks=[-1, -0.5, 0, 0.5, 1])
axes.set_xlabel("←  small classes count more        exponent t        large classes count more  →")
axes.yaxis.tick_right()
axes.yaxis.set_label_position("right")
axes.set_ylabel("tempered balanced accuracy")
for side in ("top", "left"):
    axes.spines[side].set_visible(False)
figure.savefig(TARGET, dpi=160, metadata={"Software": None})
print(f"wrote {TARGET}")
