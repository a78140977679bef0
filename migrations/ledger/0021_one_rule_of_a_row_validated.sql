-- Apart from the migration that adds the constraints, because this one lets writers go on while it reads both tables.
ALTER TABLE ledger.event VALIDATE CONSTRAINT event_rules;
ALTER TABLE ledger.invocation VALIDATE CONSTRAINT invocation_rules;
