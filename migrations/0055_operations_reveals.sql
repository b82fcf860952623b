-- How often an operator has revealed personal data at the desk within the last hour is counted in the record of acts.
CREATE INDEX operator_events_reveals ON operator_events (actor, at) WHERE act = 'application reveal';
