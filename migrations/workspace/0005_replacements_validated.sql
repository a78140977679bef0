-- Apart from the migration that adds the constraints, because this one lets writers go on while it reads the whole table.
ALTER TABLE workspace.installation VALIDATE CONSTRAINT installation_successor;
ALTER TABLE workspace.installation VALIDATE CONSTRAINT installation_replaced_ended;
