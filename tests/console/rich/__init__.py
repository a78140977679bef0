"""The Console with the data of a large company: many Agents, long lists, deep Traces, hostile Cards."""
