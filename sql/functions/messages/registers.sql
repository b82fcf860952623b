-- Registers of excluded numbers. An import gives all its numbers in parts, and then ends.

-- Adds a part of an import. Returns how many of the numbers the register did not list. The numbers of a part differ.
CREATE OR REPLACE FUNCTION add_excluded(p_register smallint, p_import bigint, p_phones bigint[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_added integer;
BEGIN
  -- In one order, so that two imports do not wait for each other. ROW_COUNT on a cluster counts what is there too.
  WITH added AS (
    INSERT INTO excluded_numbers AS e (phone_index, register_id, import)
    SELECT u.phone_index, p_register, p_import FROM unnest(p_phones) AS u(phone_index) ORDER BY u.phone_index
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT count(*) INTO v_added FROM added;
  IF v_added < cardinality(p_phones) THEN
    UPDATE excluded_numbers e SET import = p_import
    WHERE e.register_id = p_register AND e.phone_index = ANY (p_phones) AND e.import < p_import;
  END IF;
  RETURN v_added;
END
$$;
