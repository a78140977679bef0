"""Spans for the tools that an operator has already: sent by OTLP, once a collector is named."""
