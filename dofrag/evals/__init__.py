"""Evaluation: question sets, campaigns, grading without a judge model, reports. Never named `eval`: that is data."""
