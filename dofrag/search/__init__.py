"""Finding: backends that return ids and scores. Text always comes from the store."""
