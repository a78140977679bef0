-- oldest ready version: 0.2.0
-- A search for the latest versions reads the precedence of every candidate from this index alone, and no Card of one that it does not return.

CREATE INDEX card_precedence ON registry.card (agent_id, version) INCLUDE (precedence) WHERE status = 'published';
