"""Repeatable benchmarks: every figure is a median of interleaved rounds in one run."""
