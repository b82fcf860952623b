/** The history of troubles: when each one began and ended (docs/monitoring.md, "The history of troubles"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { noteStanding, readEnded, readStanding } from '../../src/subjects/monitoring/sql/troubles.ts';
import { noteUpkeep } from '../../src/subjects/monitoring/sql/upkeep-jobs.ts';
import { endedTroubles } from '../../src/subjects/monitoring/uses/ended-troubles.ts';
import { noteTroubles } from '../../src/subjects/monitoring/uses/note-troubles.ts';
import { readStatus } from '../../src/subjects/monitoring/uses/status.ts';
import { commandLine } from '../cli/harness.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { declaredTables } from '../support/tables.ts';

const store = await testDatabase();
const { database } = store;
const sessions = sessionsOf(store);
const { run } = commandLine(store);
const pause = "UPDATE sender SET paused_at = now() - interval '2 hours', paused_reason = 'x'";
const resume = 'UPDATE sender SET paused_at = NULL, paused_reason = NULL';
const fresh = () =>
  database.query(
    `DELETE FROM troubles; UPDATE trouble_looks SET looked_at = '-infinity'; DELETE FROM paused_templates; ${resume}`,
  );

/** So many minutes pass for what is stored. */
const pass = (minutes: number) =>
  database.query(
    `UPDATE troubles SET began_at = began_at - $1 * interval '1 minute', ended_at = ended_at - $1 * interval '1 minute',
      ended_ms = ended_ms - $1 * 60000`,
    [minutes],
  );
/** The next turn of the upkeep. */
const look = async () => {
  await database.query("UPDATE trouble_looks SET looked_at = looked_at - interval '15 seconds'");
  await noteUpkeep(database, [{ name: 'make partitions', tookMs: 1, succeeded: true, why: null }]);
  await noteTroubles({ database: sessions });
};
const newestEnded = async () => {
  const [newest] = await readEnded(database, null, 1);
  assert.ok(newest);
  return newest;
};

describe('the history of troubles', () => {
  it('D39: has the rows of a model, whatever comes and goes: one within ten minutes is the same one', async () => {
    const looks = fc.array(
      fc.record({ minutes: fc.constantFrom(1, 4, 9, 11, 90), codes: fc.subarray(['a', 'b', 'c']) }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(looks, async (some) => {
        await fresh();
        interface Row {
          code: string;
          began: number;
          ended: number | null;
          times: number;
        }
        const model: Row[] = [];
        let now = 0;
        for (const { minutes, codes } of some) {
          now += minutes;
          await pass(minutes);
          for (const row of model) if (row.ended === null && !codes.includes(row.code)) row.ended = now;
          for (const code of codes) {
            const last = model.findLast((row) => row.code === code);
            if (last?.ended === null) continue;
            if (last !== undefined && now - last.ended! < 10) {
              last.ended = null;
              last.times += 1;
            } else model.push({ code, began: now, ended: null, times: 1 });
          }
          await inTransaction(sessions, async (session) =>
            noteStanding(
              session,
              codes.map((code) => ({ code: code as never, text: code, beganAt: new Date() })),
            ),
          );
        }
        const minutesAgo = (column: string) => `round(extract(epoch FROM now() - ${column}) / 60)::integer`;
        const { rows } = await database.query(
          `SELECT code, ${minutesAgo('began_at')} AS began, ${minutesAgo('ended_at')} AS ended, times
          FROM troubles ORDER BY code, id`,
        );
        assert.deepEqual(
          rows,
          model
            .toSorted((one, other) => one.code.localeCompare(other.code))
            .map((row) => ({
              ...row,
              began: now - row.began,
              ended: row.ended === null ? null : now - row.ended,
            })),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('is written by the upkeep from the rules of `status`, which tells since when each trouble stands', async () => {
    await fresh();
    await look();
    assert.equal((await readStanding(database)).size, 0);
    await database.query(pause);
    await database.query("INSERT INTO paused_templates (name, reason) VALUES ('offer', 'x')");
    await look();
    const { troubles } = JSON.parse((await run('status', '--json')).out);
    const ageS = (since: string) => Math.round((Date.now() - Date.parse(since)) / 1000);
    const since = Object.fromEntries(
      troubles.map((one: { code: string; since: string }) => [one.code, ageS(one.since)]),
    );
    assert.deepEqual(Object.keys(since), ['sender_paused', 'templates_paused']);
    assert.ok(since.sender_paused >= 7_200, 'the store knows since when');
    assert.ok(since.templates_paused < 60);
    assert.match((await run('status')).out, /sender_paused .* \(for 2 h\)$/m);
    await database.query(`${resume}; DELETE FROM paused_templates`);
    await look();
    assert.equal((await readStanding(database)).size, 0);
    const ended = await readEnded(database, null, 10);
    assert.deepEqual(
      ended.map(({ code, times }) => [code, times]),
      [
        ['templates_paused', 1],
        ['sender_paused', 1],
      ],
    );
    assert.match(ended[1]!.text, /^all messages are paused/);
  });

  it('one process looks, however many do the upkeep', async () => {
    await fresh();
    await database.query(pause);
    await look();
    await database.query(resume);
    // Less than a turn later another process sees what this one would see.
    await noteTroubles({ database: sessions });
    assert.equal((await readStanding(database)).size, 1);
    await database.query("UPDATE trouble_looks SET looked_at = now() + interval '1 hour'");
    await Promise.all(Array.from({ length: 6 }, () => noteTroubles({ database: sessions })));
    assert.equal((await readEnded(database, null, 10)).length, 1);
  });

  it('has the time in which no process ran, from the last upkeep on', async () => {
    await fresh();
    await database.query(
      "UPDATE upkeep_jobs SET succeeded_at = now() - interval '3 hours', failed_at = NULL",
    );
    const view = {
      database: sessions,
      place: 'the store',
      schema: async () => ({ fault: null, pending: [] }),
      roleFault: async () => null,
    };
    const [told] = (await readStatus(view)).troubles;
    assert.equal(told?.code, 'no_upkeep');
    assert.equal(Math.round((Date.now() - told.since!.getTime()) / 60_000), 180, 'before anybody notes it');
    await noteTroubles({ database: sessions });
    await look();
    const { code, beganAt, endedAt } = await newestEnded();
    assert.equal(code, 'no_upkeep');
    assert.equal(Math.round((+endedAt - +beganAt) / 60_000), 180);
  });

  it('D39: a clock that steps back makes no time below 0', async () => {
    await fresh();
    await database.query(pause);
    await look();
    await database.query("UPDATE troubles SET began_at = now() + interval '1 hour'");
    await database.query(resume);
    await look();
    const { beganAt, endedAt } = await newestEnded();
    assert.deepEqual(endedAt, beganAt);
  });

  it('keeps 100 of a code, and what ended for 30 days of both clocks', async () => {
    await fresh();
    await database.query(
      `INSERT INTO troubles (code, text, began_at, ended_at, ended_ms)
      SELECT 'pushes_late', n::text, now() - interval '31 days', now() - interval '31 days', elapsed_ms()
      FROM generate_series(1, 130) AS n`,
    );
    await look();
    const kept = await readEnded(database, null, 1_000);
    assert.deepEqual([kept.length, kept[0]?.text, kept.at(-1)?.text], [100, '130', '31']);
    const { table } = (await declaredTables()).find((one) => one.table.name === 'troubles')!;
    assert.equal(await forgetRows(sessions, table as never), 0, 'too little time has certainly passed');
    await database.query("UPDATE troubles SET ended_ms = elapsed_ms() - ms_of('31 days') WHERE text <> '99'");
    assert.equal(await forgetRows(sessions, table as never), 99);
  });

  it('comes in pages, those first that began last', async () => {
    await fresh();
    await database.query(
      `INSERT INTO troubles (code, text, began_at, ended_at, ended_ms)
      SELECT 'pushes_late', n::text, now(), now(), elapsed_ms() FROM generate_series(1, 5) AS n`,
    );
    const texts: string[] = [];
    for (let before: number | null = null; ; ) {
      const page = await endedTroubles(database, before, 2);
      texts.push(...page.troubles.map(({ text }) => text));
      if (page.next === null) break;
      before = page.next;
    }
    assert.deepEqual(texts, ['5', '4', '3', '2', '1']);
  });
});
