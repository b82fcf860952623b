-- The record of what operators did and read (docs/audit.md).

-- Refuses a change of what is recorded. The chain shows a change by somebody who can take this trigger away.
CREATE OR REPLACE FUNCTION refuse_change_of_record() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % stay as they are', TG_TABLE_NAME USING ERRCODE = '42501';
END
$$;
CREATE OR REPLACE TRIGGER operator_events_stay BEFORE UPDATE OR DELETE ON operator_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_record();
CREATE OR REPLACE TRIGGER operator_events_stay_all BEFORE TRUNCATE ON operator_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_record();
