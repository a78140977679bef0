-- Apart from the migration that adds the constraints, because this one lets writers go on while it reads the whole table.
ALTER TABLE ledger.event
    VALIDATE CONSTRAINT event_chained,
    VALIDATE CONSTRAINT event_transition,
    VALIDATE CONSTRAINT event_error,
    VALIDATE CONSTRAINT event_reason;
