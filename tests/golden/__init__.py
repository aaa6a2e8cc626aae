"""How the recordings of the golden suite (`hub/evals/golden`) were made; nothing here runs in the tests."""
