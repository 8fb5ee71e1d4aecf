"""No test is timed, also not by Hypothesis: machines that run the suite may be busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("untimed")
