"""Settings of hypothesis, repeatable unless HYPOTHESIS_PROFILE=long searches; one option of ours."""

import os

from hypothesis import HealthCheck, settings

# A busy machine is no bug, hence no deadline and no check of the speed.
settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Processes that tests start are strict, too: what they leave open is said on their stderr.
os.environ["PYTHONWARNINGS"] = "error::ResourceWarning"


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", help="pictures as drawn are the baselines")
