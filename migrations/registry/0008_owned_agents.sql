-- Every Agent that a principal owns, in the order of its id.

CREATE INDEX agent_by_owner ON registry.agent (owner_id, agent_id);
