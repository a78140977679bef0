"""Networks of the tests' own: one where every address answers, one whose packets are lost, late and out of order."""
