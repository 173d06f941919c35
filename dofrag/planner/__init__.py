"""Who decides the next step: rules, a scripted part, or a model. A planner proposes; the orchestrator decides."""
