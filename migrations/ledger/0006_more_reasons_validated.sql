-- Apart from the migration that adds the constraint, because this one lets writers go on while it reads the whole table.
ALTER TABLE ledger.event VALIDATE CONSTRAINT event_reason;
