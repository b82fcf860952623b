/** What a partner and an operator learn where the store cannot work for a while (D37). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApplication, post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock();
const service = await testService({}, { clock, upkeep: false });
const { database } = service;
const { apiKey } = await service.addPartner();

const TROUBLES = [
  ['53100', 'the disk of the database is full: nothing can be stored until there is room'],
  ['25006', 'the database is read-only: nothing can be stored until it takes writes again'],
  ['53200', 'the database is short of memory or connections'],
  ['58030', 'the database cannot read or write its files'],
] as const;
/** Registrations fail with the error of the store, and the quota cannot be read for the same reason. */
const failWith = (code: string) => `
  CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS
    $do$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $do$;
  CREATE OR REPLACE TRIGGER fails BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION fails();
  CREATE OR REPLACE FUNCTION usage_at(p_partner_id integer, p_at timestamptz) RETURNS bigint LANGUAGE plpgsql AS
    $do$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $do$`;
const register = () => post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
const readQuota = () => fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
const failures = () =>
  service.log.map((line) => JSON.parse(line)).filter(({ level }: { level: number }) => level >= 50);

for (const [code, text] of TROUBLES)
  test(`D37: ${code}: every route says when to come again, and the log says once a minute what is wrong`, async () => {
    await database.query(failWith(code));
    const before = failures().length;
    const ask = async () => {
      for (const { status, headers } of [await register(), await readQuota()])
        assert.deepEqual([status, headers.get('retry-after')], [500, '1']);
    };
    for (const _ of [1, 2, 3]) await ask();
    await clock.advance(60_000);
    await ask();
    assert.deepEqual(
      failures()
        .slice(before)
        .map(({ msg, times_since, error }) => [msg, times_since, error.code ?? error.cause?.code]),
      [
        [text, 0, code],
        [text, 5, code],
      ],
    );
  });
