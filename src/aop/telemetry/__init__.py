"""Spans and metrics for the tools an operator has already: sent by OTLP, once a collector is named."""
