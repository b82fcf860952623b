/** A database with a faked clock has no other: nothing that it stores or runs reads the real time (D39). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { fakeClock, stepClock } from '../support/faked-clock.ts';
import { readSources } from '../support/sources.ts';

const READERS = ['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp'];
const AT = new Date('2031-03-04T05:06:07Z');
/** Hours are enough to tell the faked time from the real one. */
const isFaked = (at: Date) => Math.abs(at.getTime() - AT.getTime()) < 3_600_000;

interface Column {
  readonly table: string;
  readonly column: string;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // The faked clock ends the sessions that were there before.
  client.on('error', () => {});
  after(() => client.end());
  return client;
}

/** The columns whose default reads the time. */
async function timedColumns(client: pg.Client): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT d.adrelid::regclass::text AS "table", quote_ident(a.attname) AS "column"
     FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
     WHERE pg_get_expr(d.adbin, d.adrelid) ~ ANY ($1) ORDER BY d.adrelid, d.adnum`,
    [READERS.map((name) => `\\y${name}\\(`)],
  );
  return rows;
}

/** What a row has that does not give the column, in a table that is made now like another one. */
async function defaultOf(client: pg.Client, { table, column }: Column): Promise<Date> {
  const { rows: columns } = await client.query<{ change: string }>(
    `SELECT format('ALTER %I DROP NOT NULL', attname) AS change FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  const like = `CREATE TEMP TABLE alike (LIKE ${table} INCLUDING DEFAULTS)`;
  const nullable = `ALTER TABLE alike ${columns.map(({ change }) => change).join(', ')}`;
  for (const text of ['DROP TABLE IF EXISTS alike', like, nullable]) await client.query(text);
  return (await client.query(`INSERT INTO alike DEFAULT VALUES RETURNING ${column} AS at`)).rows[0].at;
}

/** How many expressions that were parsed when they were made read the real time, for each catalog that has such. */
async function readersOfRealTime(client: pg.Client): Promise<Record<string, number>> {
  const { rows: places } = await client.query<{ catalog: string; attribute: string }>(
    `SELECT attrelid::regclass::text AS catalog, attname AS attribute FROM pg_attribute
     WHERE atttypid = 'pg_node_tree'::regtype AND attrelid = ANY (
       SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace)`,
  );
  const found: Record<string, number> = {};
  for (const { catalog, attribute } of places) {
    // What PostgreSQL brings along has lower numbers than what a database's owner makes; an extension brings its own.
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::integer FROM ${catalog} AS c
       WHERE ${attribute}::text ~ (SELECT 'SQLVALUEFUNCTION :op [0-8] |func(id|no) (' || string_agg(oid::text, '|') || ') '
           FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ($1))
         AND coalesce((to_jsonb(c)->>'oid')::bigint, 16384) >= 16384
         AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = (to_jsonb(c)->>'oid')::oid AND e.deptype = 'e')`,
      [READERS],
    );
    if (rows[0]!.count > 0) found[`${catalog}.${attribute}`] = rows[0]!.count;
  }
  return found;
}

/** The search path of a session of the runtime role, and those of the functions that have their own. */
async function searchPaths({ url }: TestDatabase): Promise<string[]> {
  const { rows } = await (await connect(url)).query<{ path: string }>(
    `SELECT current_setting('search_path') AS path
     UNION SELECT substr(s, length('search_path=') + 1) FROM pg_proc, unnest(proconfig) AS s
     WHERE s LIKE 'search_path=%' AND pronamespace = current_schema()::regnamespace`,
  );
  return rows.map(({ path }) => path);
}

/** A function whose body and parameter are parsed when it is made, with a search path of its own. */
const PARSED = `
  CREATE FUNCTION parsed(p_at timestamptz DEFAULT clock_timestamp()) RETURNS timestamptz[] LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path TO public, pg_temp
    RETURN ARRAY[p_at, now()]`;

const CLOCKS: Readonly<Record<string, (store: TestDatabase) => Promise<void>>> = {
  fakeClock: async (store) => (await fakeClock(store)).set(AT.getTime()),
  stepClock: async ({ ownerUrl }) => {
    const client = await connect(ownerUrl);
    await (await stepClock(client)).set(client, AT.getTime() - Date.now());
  },
};

for (const [name, fake] of Object.entries(CLOCKS))
  test(`after ${name} no default, no function and no session reads the real time`, async () => {
    const store = await testDatabase();
    const before = await connect(store.ownerUrl);
    await before.query(PARSED);
    const columns = await timedColumns(before);
    assert.equal((await readersOfRealTime(before))['pg_attrdef.adbin'], columns.length);
    await fake(store);

    const client = await connect(store.ownerUrl);
    assert.deepEqual(await readersOfRealTime(client), {});
    for (const column of columns)
      assert.ok(isFaked(await defaultOf(client, column)), `${column.table}.${column.column}`);
    for (const at of (await client.query('SELECT parsed() AS at')).rows[0].at) assert.ok(isFaked(at));
    const paths = await searchPaths(store);
    assert.ok(paths.length > 1, 'functions with a search path');
    for (const path of paths) {
      await client.query("SELECT set_config('search_path', $1, false)", [path]);
      const { rows } = await client.query('SELECT now() AS at UNION SELECT clock_timestamp()');
      for (const { at } of rows) assert.ok(isFaked(at), path);
    }
  });

/** What tells the real time although another `now()` stands before PostgreSQL's own. */
const UNFAKED =
  /\b(?:current_(?:date|time|timestamp)|localtime|localtimestamp|(?:statement|transaction)_timestamp|timeofday)\b|\bpg_catalog\.(?:now|clock_timestamp)\b|'(?:now|today|tomorrow|yesterday)'::/i;

test('statements and functions read the time by now() and clock_timestamp(), which a faked clock stands before', async () => {
  const { database } = await testDatabase();
  const { rows } = await database.query<{ path: string; text: string }>(
    `SELECT proname AS path, prosrc AS text FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  const texts = [...rows, ...readSources('src')];
  assert.deepEqual(
    texts.filter(({ text }) => UNFAKED.test(text)).map(({ path }) => path),
    [],
  );
  for (const text of ['SELECT CURRENT_DATE', "'now'::timestamptz", 'pg_catalog.now()'])
    assert.match(text, UNFAKED);
});
