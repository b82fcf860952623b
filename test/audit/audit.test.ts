/**
 * Who did what (docs/audit.md): every act of an operator and every reading of personal data is a row, and a changed,
 * removed or inserted row shows.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import pino from 'pino';
import { DAY_MS, machineClock } from '../../src/ground/base/clock.ts';
import { acting, noting } from '../../src/program/operations/acting.ts';
import { OperatorError } from '../../src/program/operations/operator-context.ts';
import type { ServiceContext } from '../../src/program/subject/subject.ts';
import { Vault } from '../../src/seal/vault.ts';
import { auditService } from '../../src/subjects/audit/service.ts';
import { ACTOR, commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database, vault } = store;
const { run, json } = commandLine(store);
const context = { database, vault, clock: machineClock, actor: ACTOR };

interface Row {
  readonly id: number;
  readonly at: string;
  readonly by: string;
  readonly act: string;
  readonly target: string | null;
  readonly application_id: number | null;
  readonly reason: string | null;
}
const list = (): Promise<Row[]> => json('audit', 'list');
const head = async (): Promise<string> => (await json('audit', 'head')).head;
const verify = async (...args: string[]) => JSON.parse((await run('audit', 'verify', '--json', ...args)).out);
/** What `work` adds, oldest first. */
async function added(work: () => Promise<unknown>): Promise<Row[]> {
  const before = (await list())[0]?.id ?? 0;
  await work();
  return (await list()).filter(({ id }) => id > before).toReversed();
}
const short = ({ act, target, application_id, reason }: Row) => [act, target, application_id, reason];

/** Runs statements as the owner of the tables can, with the trigger away; what `work` then sees is undone. */
async function tampered(statements: readonly string[], work: () => Promise<void>): Promise<void> {
  const both = ['operator_events', 'operator_events_head'];
  for (const table of both) await database.query(`CREATE TABLE saved_${table} AS TABLE ${table}`);
  await database.query('ALTER TABLE operator_events DISABLE TRIGGER USER');
  try {
    for (const statement of statements) await database.query(statement);
    await work();
  } finally {
    for (const table of both) {
      await database.query(`DELETE FROM ${table}`);
      await database.query(`INSERT INTO ${table} TABLE saved_${table}`);
      await database.query(`DROP TABLE saved_${table}`);
    }
    await database.query('ALTER TABLE operator_events ENABLE TRIGGER USER');
  }
}

const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const [one, two] = (await register(key, [
  applicant(IN_REVIEW),
  applicant({ ...IN_REVIEW, phone: '+573009990001' as never }),
])) as [number, number];

describe('who did what: every act of an operator is recorded', () => {
  it('has a row with id, at, by, act, application_id and reason for each act, in order and without gaps', async () => {
    const rows = (await list()).toReversed();
    assert.deepEqual(rows.map(short), [
      ['partner add', `partner ${partner}`, null, null],
      ['key issue', `key ${key}`, null, null],
      // A store's first start.
      ['policy activate', 'policy default-2', null, 'the store had no policy'],
    ]);
    assert.deepEqual(
      rows.map(({ id }) => id),
      [1, 2, 3],
    );
    assert.deepEqual(
      rows.map(({ by }) => by),
      [ACTOR, ACTOR, 'ventanilla'],
    );
    for (const row of rows) {
      assert.match(row.at, /^\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00$/);
    }
  });

  const phone = '+57 300 555 0101';
  const ACTS: readonly (readonly [command: readonly string[], act: string])[] = [
    [['partner', 'rename', `${partner}`, '--name', 'Acme 2'], 'partner rename'],
    [['key', 'set', `${key}`, '--daily-cap', '5000'], 'key set'],
    [['key', 'brand', 'set', `${key}`, 'examples/brand.json'], 'key brand set'],
    [['key', 'rotate', `${key}`], 'key rotate'],
    [['key', 'revoke', `${key}`], 'key revoke'],
    [['suppression', 'add', phone], 'suppression add'],
    [['suppression', 'remove', phone], 'suppression remove'],
    [['message', 'cancel', '--all', '--yes'], 'message cancel'],
    [['vault', 'reseal'], 'vault reseal'],
    [
      ['partner', 'endpoint', 'set', `${partner}`, '--url', 'https://partner.example/x'],
      'partner endpoint set',
    ],
    [['partner', 'endpoint', 'rotate', `${partner}`], 'partner endpoint rotate'],
    [['event', 'resend', '--partner', `${partner}`, '--since', '2026-01-01'], 'event resend'],
    [['partner', 'endpoint', 'disable', `${partner}`], 'partner endpoint disable'],
    [['partner', 'close', `${partner}`], 'partner close'],
    [['partner', 'reopen', `${partner}`], 'partner reopen'],
  ];
  for (const [command, act] of ACTS) {
    it(`records ${act}, and nothing of a phone`, async () => {
      const rows = await added(async () => {
        const { code, err } = await run(...command);
        assert.equal(code, 0, err);
      });
      assert.deepEqual(
        rows.map((row) => row.act),
        [act],
      );
      // A time of day may have three of these digits; the last seven are of no time and of no short hash.
      assert.doesNotMatch(JSON.stringify(rows).replaceAll(' ', ''), /5550101/);
    });
  }

  it('records a review with its application and its reason, under the name of --as', async () => {
    const rows = await added(() =>
      json('application', 'approve', `${one}`, '--reason', ' fine ', '--as', 'Luz'),
    );
    assert.deepEqual(
      rows.map((row) => [...short(row), row.by]),
      [['application approve', null, one, 'fine', 'Luz']],
    );
  });

  it('records neither a refused act nor a look at what holds no personal data', async () => {
    const rows = await added(async () => {
      assert.equal((await run('application', 'disburse', '999999', '--reason', 'x')).code, 1);
      assert.equal((await run('suppression', 'remove', '+57 300 555 0102')).code, 1);
      for (const look of [
        ['partner', 'list'],
        ['message', 'list'],
        ['suppression', 'list'],
        ['vault', 'status'],
      ])
        assert.equal((await run(...look)).code, 0);
    });
    assert.deepEqual(rows, []);
  });

  it('keeps act and row together: where one fails, neither is stored', async () => {
    const rows = await added(async () => {
      const act = acting(
        context,
        async (part) => {
          await part.database.query("UPDATE partners SET name = 'Nobody' WHERE id = $1", [partner]);
        },
        () => {
          throw new OperatorError('the process ends here');
        },
      );
      await assert.rejects(act, OperatorError);
    });
    const { rows: partners } = await database.query('SELECT name FROM partners WHERE id = $1', [partner]);
    assert.deepEqual([rows, partners[0].name], [[], 'Acme 2']);
  });

  it('undoes a failed part of an act alone, and goes on with the rest', async () => {
    const found = await acting(
      context,
      async ({ database: part }) => {
        await assert.rejects(part.query('SELECT 1 / 0'), { code: '22012' });
        return (await part.query('SELECT 1 AS one')).rows[0].one;
      },
      () => ({ act: 'test' }),
    );
    assert.equal(found, 1);
  });

  it('chains the rows of commands at one moment one after the other', async () => {
    const rows = await added(() =>
      Promise.all(
        Array.from({ length: 8 }, (_, n) => noting(context, { act: `test ${n}` }, { act: 'test' })),
      ),
    );
    assert.equal(rows.length, 16);
    assert.deepEqual(await verify(), {
      ok: true,
      events: (await list())[0]?.id,
      misfits: [],
      misfit_count: 0,
    });
  });
});

describe('who did what: personal data is masked unless --reveal --reason TEXT', () => {
  const PERSONAL = /Ana|3001234567|CC 1|573009990001/;
  const { name, id_number, city, phone } = applicant();
  const COMMANDS = [
    ['application', 'list'],
    ['application', 'show', `${one}`],
  ];
  for (const command of COMMANDS) {
    it(`${command.slice(0, 2).join(' ')} masks name, ID number, city and phone, for people and for programs`, async () => {
      const rows = await added(async () => {
        for (const form of [[], ['--json']]) {
          const { code, out } = await run(...command, ...form);
          assert.equal(code, 0);
          for (const value of [name, id_number, city, phone]) assert.ok(!out.includes(`${value}`), out);
          assert.doesNotMatch(out, PERSONAL);
          assert.ok(out.includes('***'));
        }
      });
      assert.deepEqual(rows, []);
    });

    it(`${command.slice(0, 2).join(' ')} takes --reveal and --reason together alone`, async () => {
      for (const half of [['--reveal'], ['--reason', 'audit'], ['--reveal', '--reason', ' ']]) {
        const { code, out } = await run(...command, ...half);
        assert.deepEqual([code, out], [2, '']);
      }
    });
  }

  it('records whose data was read and why, before the data is shown', async () => {
    const rows = await added(async () => {
      const shown = await json(
        ...['application', 'show', `${one}`, '--reveal', '--reason', ' call back ', '--as', 'Luz'],
      );
      assert.deepEqual([shown.name, shown.phone], [name, phone]);
      const listed = await json('application', 'list', '--limit', '1', '--reveal', '--reason', 'ticket 7');
      assert.deepEqual(
        listed.map((row: { id: number }) => row.id),
        [two],
      );
    });
    assert.deepEqual(rows.map(short), [
      ['application show --reveal', null, one, 'call back'],
      ['application list --reveal', null, two, 'ticket 7'],
    ]);
    assert.equal(rows.find(({ act }) => act === 'application show --reveal')?.by, 'Luz');
    assert.match(
      (await run('application', 'list', '--as', 'Luz')).err,
      /--as goes with --reveal and --reason/,
    );
    await database.query('ALTER TABLE operator_events_head RENAME TO away');
    const unrecorded = await run('application', 'show', `${one}`, '--reveal', '--reason', 'x');
    await database.query('ALTER TABLE away RENAME TO operator_events_head');
    assert.deepEqual([unrecorded.code, unrecorded.out], [70, '']);
  });

  it('takes phones and ID numbers by standard input', async () => {
    const found = async (line: string, ...args: string[]) =>
      JSON.parse((await commandLine(store, {}, `${line}\nmore\n`).run(...args, '--json')).out);
    assert.deepEqual(
      (await found('+57 300 999 0001', 'application', 'list', '--phone', '-')).map((row: Row) => row.id),
      [two],
    );
    assert.equal((await found(String(id_number), 'application', 'list', '--id-number', '-')).length, 2);
    assert.equal((await found('+57 300 555 0103', 'suppression', 'add', '-')).added, true);
    assert.equal((await found('+57 300 555 0103', 'suppression', 'remove', '-')).removed, true);
    const empty = await commandLine(store, {}, '').run('suppression', 'add', '-');
    assert.match(empty.err, /standard input has no line/);
    const both = await run('application', 'list', '--phone', '-', '--id-number', '-');
    assert.match(both.err, /standard input has one value/);
  });
});

describe('who did what: a changed, removed or inserted row shows', () => {
  it('refuses a change or removal of a row', async () => {
    await assert.rejects(database.query("UPDATE operator_events SET actor = 'nobody'"), /stay as they are/);
    await assert.rejects(database.query('DELETE FROM operator_events'), /stay as they are/);
    await assert.rejects(database.query('TRUNCATE operator_events'), /stay as they are/);
  });

  const COPY = 'id, at, actor, act, target, application_id, reason, key_number, mac';
  const PLANTED: readonly (readonly [what: string, row: number, statements: readonly string[]])[] = [
    ...['actor', 'act', 'target', 'reason'].map(
      (column) =>
        [`a changed ${column}`, 5, [`UPDATE operator_events SET ${column} = 'other' WHERE id = 5`]] as const,
    ),
    ['a changed application', 5, ['UPDATE operator_events SET application_id = 1 WHERE id = 5']],
    [
      'a time that is a microsecond later',
      5,
      ["UPDATE operator_events SET at = at + interval '1 microsecond' WHERE id = 5"],
    ],
    ['a removed row', 5, ['DELETE FROM operator_events WHERE id = 5']],
    [
      'a removed row, the rows after it moved',
      5,
      [
        'DELETE FROM operator_events WHERE id = 5',
        'UPDATE operator_events SET id = id + 1000000 WHERE id > 5',
        'UPDATE operator_events SET id = id - 1000001 WHERE id > 1000000',
      ],
    ],
    ['a removed beginning', 1, ['DELETE FROM operator_events WHERE id <= 3']],
    [
      'two rows that changed places',
      5,
      [
        'UPDATE operator_events SET id = id + 1000000 WHERE id IN (5, 6)',
        'UPDATE operator_events SET id = 1000011 - id WHERE id > 1000000',
      ],
    ],
    ['a row of another key', 5, ['UPDATE operator_events SET key_number = 1 WHERE id = 5']],
  ];
  for (const [what, row, statements] of PLANTED) {
    it(`names the first row that does not fit: ${what}`, () =>
      tampered(statements, async () => {
        const { ok, events, misfits } = await verify();
        assert.deepEqual([ok, misfits[0].id], [false, row]);
        assert.ok(events >= row - 1, 'it goes on');
        const { code, out } = await run('audit', 'verify');
        assert.equal(code, 1);
        assert.match(out, new RegExp(`^Row ${row} does not fit: `));
      }));
  }

  it('names a row behind the end', async () => {
    const last = (await list())[0]!.id;
    const add = `INSERT INTO operator_events SELECT ${COPY.replace('id', `${last + 1}`)} FROM operator_events WHERE id = 5`;
    await tampered([add], async () => assert.equal((await verify()).misfits[0].id, last + 1));
  });

  it('bad input: a chain that is cut at its end is refused by the head in the store, and by a head from outside', async () => {
    const anchor = await head();
    const last = (await list())[0]!.id;
    const cut = `DELETE FROM operator_events WHERE id = ${last}`;
    await tampered([cut], async () => assert.match((await verify()).misfits[0].fault, /cut at its end/));
    // Whoever can write the head too leaves no trace in the store.
    const hidden = `UPDATE operator_events_head h SET event_id = e.id, mac = e.mac FROM operator_events e WHERE e.id = ${last - 1}`;
    await tampered([cut, hidden], async () => {
      assert.equal((await verify()).ok, true);
      const { ok, misfits } = await verify('--head', anchor);
      assert.deepEqual([ok, misfits[0].id], [false, last]);
      assert.match(misfits[0].fault, /cut at its end/);
      await noting(context, { act: 'another end' });
      assert.match((await verify('--head', anchor)).misfits[0].fault, /another row stood here/);
    });
    assert.equal((await verify('--head', anchor)).ok, true);
  });

  it('an older head still fits after more acts; what is no head is refused', async () => {
    const anchor = await head();
    await noting(context, { act: 'one more' });
    assert.equal((await verify('--head', anchor)).ok, true);
    for (const text of ['', '12', '12:abc', `x:${'0'.repeat(64)}`]) {
      assert.equal((await run('audit', 'verify', '--head', text)).code, 2, text);
    }
  });

  it('a newer INDEX_KEY chains on, and both parts are verified; without the newer key the rows do not fit', async () => {
    const fresh = createHash('sha256').update('fresh').digest();
    const newer = {
      ...context,
      vault: new Vault({ ...TEST_SECRETS, newerIndexKeys: [fresh] }),
      clock: machineClock,
    };
    const last = (await list())[0]!.id;
    await noting(newer, { act: 'with the newer key' });
    const { out } = await commandLine(newer as never).run('audit', 'verify', '--json');
    assert.equal(JSON.parse(out).ok, true);
    const { misfits } = await verify();
    assert.equal(misfits[0].id, last + 1);
    assert.match(misfits[0].fault, /a key of INDEX_KEY that is not given here/);
    await noting(context, { act: 'with the older key again' });
    const again = await commandLine(newer as never).run('audit', 'verify', '--json');
    assert.match(JSON.parse(again.out).misfits[0].fault, /an older key than the row before/);
  });
});

it('who did what: the upkeep logs the head at the start and each day', async () => {
  const clock = new TestClock();
  const lines: { head?: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const [job] = auditService().upkeep ?? [];
  const told: number[] = [];
  for (const passMs of [0, 60_000, DAY_MS - 60_001, 1, 1]) {
    await clock.advance(passMs);
    await job?.run({ database, clock, log } as unknown as ServiceContext);
    told.push(lines.length);
  }
  assert.deepEqual(told, [1, 1, 1, 2, 2]);
  assert.deepEqual(
    lines.map((line) => line.head),
    [await head(), await head()],
  );
});
