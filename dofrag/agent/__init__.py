"""The orchestrator: the loop, its budget, the picture a planner gets, and the result of a run."""
