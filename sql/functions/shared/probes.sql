-- When a channel or an endpoint counts as broken, and how it is probed.

-- Failures in a row that break the channel or an endpoint: from then on only probes go out, until one gets through.
CREATE OR REPLACE FUNCTION breaking_failures() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 5;

-- The pause before the next probe after p_probes of them: 15 seconds at first, then twice as long each time, 15 minutes
-- at most.
CREATE OR REPLACE FUNCTION probe_pause(p_probes integer) RETURNS interval LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(interval '15 seconds' * 2 ^ least(p_probes, 10), interval '15 minutes');

-- Whether it is time for a probe. A time further away than the longest pause was written while the clock was ahead. The
-- minute more is for a session that read the clock before another one set the longest pause.
CREATE OR REPLACE FUNCTION is_probe_time(p_probe_at timestamptz, p_at timestamptz) RETURNS boolean LANGUAGE sql STABLE
RETURN p_probe_at <= p_at OR p_probe_at > p_at + interval '16 minutes';
