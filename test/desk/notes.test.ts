/** Notes of operators about an application (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { Application, Note } from '../../src/subjects/desk/routes/forms.ts';
import { noteRoutes } from '../../src/subjects/desk/routes/notes.ts';
import { MOST_NOTE_CHARACTERS, MOST_NOTES, MOST_NOTES_AN_HOUR } from '../../src/subjects/desk/rules/queue.ts';
import { eraseNotes } from '../../src/subjects/desk/sql/notes.ts';
import { APPLICATION_NOTES } from '../../src/subjects/desk/sql/tables.ts';
import { readNotes } from '../../src/subjects/desk/uses/notes.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { tablesWith } from '../support/erased.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { NEW, ONLY_NEW } from '../support/rotated-secrets.ts';
import { runJob } from '../support/upkeep.ts';

const HOSTILE = `</script><img src=x onerror="alert('1')">\n{{7*7}} ' OR 1=1 --`;
const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const routes = [
  ...applicationRoutes({ database: runtime, vault, clock: machineClock, terms: async () => null }),
  ...noteRoutes({ database: runtime, vault, clock: machineClock }),
];
const desk = await startTestConsole(store, routes);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const ruth = await desk.enrolled('ruth', 'reviewer');
const reviewer = await ruth.signIn();

let serial = 0;
async function anApplication() {
  serial += 1;
  const phone = toPhone(`+57301555${String(serial).padStart(4, '0')}`);
  const [id] = await register(key, [applicant({ ...IN_REVIEW, id_number: `7700${serial}`, phone })]);
  return { id: id!, phone: phone as string };
}
const write = (visitor: Visitor, id: number | string, text: unknown) =>
  visitor.ask('POST', `/api/applications/${id}/notes`, { text });
const read = async (id: number) => (await viewer.ask('GET', `/api/applications/${id}`)).body;
const stored = async (id: number) =>
  (await database.query('SELECT content FROM application_notes WHERE application_id = $1', [id])).rows;
const acts = async (id: number) =>
  (await json('audit', 'list', '--application', `${id}`)).map(({ act, by }: { act: string; by: string }) => [
    act,
    by,
  ]);

describe('a note', () => {
  it('is kept sealed, shown as it was written, and recorded (D48)', async () => {
    const { id } = await anApplication();
    const { status, headers, body } = await write(reviewer, id, HOSTILE);
    assert.equal(status, 200);
    assert.match(headers.get('content-type')!, /^application\/json/);
    assert.ok(Value.Check(Note, body), JSON.stringify([...Value.Errors(Note, body)]));
    assert.deepEqual([body.text, body.by], [HOSTILE, { id: ruth.id, login: 'ruth' }]);
    await write(reviewer, id, '  second \r\n line ');
    const shown = await read(id);
    assert.ok(Value.Check(Application, shown), JSON.stringify([...Value.Errors(Application, shown)]));
    assert.deepEqual(
      shown.notes?.map(({ text }) => text),
      [HOSTILE, 'second \n line'],
    );
    assert.deepEqual(shown.notes?.[0], body);
    for (const { content } of await stored(id)) assert.ok(!content.toString('latin1').includes('alert'));
    assert.deepEqual(await acts(id), Array(2).fill(['application note', `operator ${ruth.id}`]));
    assert.deepEqual(desk.failures, []);
  });

  it('has a text of a bounded length without control and hidden characters', async () => {
    const { id } = await anApplication();
    for (const text of [
      '',
      ' \n ',
      'a\u0000b',
      'a\u202eb',
      '\ud800',
      'x'.repeat(MOST_NOTE_CHARACTERS + 1),
      7,
      null,
    ]) {
      const { status, body } = await write(reviewer, id, text);
      assert.equal(status, 400, JSON.stringify(text));
      assert.match(body.error, /text/);
    }
    const longest = '💬'.repeat(MOST_NOTE_CHARACTERS);
    assert.equal((await write(reviewer, id, longest)).body.text, longest);
    assert.equal((await stored(id)).length, 1);
    assert.equal((await acts(id)).length, 1);
  });

  it('is refused to a viewer and to nobody, and where there is no application', async () => {
    const { id } = await anApplication();
    assert.equal((await write(viewer, id, 'x')).status, 403);
    assert.equal((await write(desk.visitor(), id, 'x')).status, 401);
    for (const unknown of ['999999999', '0', 'x', '9'.repeat(30)])
      assert.equal((await write(reviewer, unknown, 'x')).status, 404, unknown);
    assert.deepEqual(await stored(id), []);
  });

  it(`is the last one of an application after ${MOST_NOTES}, at one moment too`, async () => {
    const { id } = await anApplication();
    await database.query(
      `INSERT INTO application_notes (application_id, operator_id, at, seal_id, content)
       SELECT $1, $2, now() - interval '2 hours', gen_random_uuid(), '\\x01' FROM generate_series(1, $3)`,
      [id, ruth.id, MOST_NOTES - 1],
    );
    const last = await Promise.all([1, 2, 3].map(() => write(reviewer, id, 'the last one')));
    assert.deepEqual(last.map(({ status }) => status).toSorted(), [200, 409, 409]);
    assert.match(last.find(({ status }) => status === 409)!.body.error, /takes no more/);
    assert.deepEqual((await read(id)).notes.length, MOST_NOTES);
  });

  it(`is the last one of an operator in an hour after ${MOST_NOTES_AN_HOUR}, at one moment too`, async () => {
    const [one, other] = [await anApplication(), await anApplication()];
    const eager = await desk.enrolled('eager', 'reviewer');
    const visitor = await eager.signIn();
    await database.query(
      `INSERT INTO application_notes (application_id, operator_id, at, seal_id, content)
       SELECT $1 + n, $2, now() - interval '50 minutes', gen_random_uuid(), '\\x01' FROM generate_series(1, $3) AS n`,
      [10_000_000, eager.id, MOST_NOTES_AN_HOUR - 1],
    );
    const last = await Promise.all([one, other, one].map(({ id }) => write(visitor, id, 'busy')));
    assert.deepEqual(last.map(({ status }) => status).toSorted(), [200, 429, 429]);
    const wait = Number(last.find(({ status }) => status === 429)!.headers.get('retry-after'));
    assert.ok(wait > 0 && wait <= 600, `${wait}`);
    assert.equal((await write(reviewer, one.id, 'another operator')).status, 200);
  });
});

describe('the texts of notes', () => {
  const sealedNotes = sealedRows(APPLICATION_NOTES);

  it('are sealed again with a new data key, and are null where nobody can open them', async () => {
    const { id } = await anApplication();
    await write(reviewer, id, 'under the first key');
    const fresh = new Vault(NEW);
    const only = new Vault(ONLY_NEW);
    const shown = async (with_: Vault) =>
      (await readNotes({ database: runtime, vault: with_ }, toApplicationId(id))).map(({ text }) => text);
    assert.deepEqual(await shown(only), [null]);
    const { needing } = await sealedNotes.rowsOf(runtime, fresh, 1);
    let resealed = 0;
    for (let from: string | null = ''; from !== null; ) {
      const step = await sealedNotes.reseal(runtime, fresh, from);
      resealed += step.resealed;
      from = step.next;
    }
    assert.equal(resealed, needing);
    assert.deepEqual(await shown(only), ['under the first key']);
    const other = await anApplication();
    await database.query('UPDATE application_notes SET application_id = $2 WHERE application_id = $1', [
      id,
      other.id,
    ]);
    assert.deepEqual((await read(other.id)).notes[0].text, null);
  });

  it('are in the export of the person, and go with the erasure for good', async () => {
    const { id, phone } = await anApplication();
    await write(reviewer, id, 'called Wilhelmina Quux');
    const exported = await json('subject', 'export', '--phone', phone, '--reveal', '--reason', 'ticket 1');
    const [{ application_notes: notes, note_texts: texts }] = exported.applications;
    assert.deepEqual(texts, [{ id: notes[0].id, text: 'called Wilhelmina Quux' }]);
    assert.equal(notes[0].by, `operator ${ruth.id}`);
    await json('subject', 'erase', '--phone', phone, '--yes', '--close', '--reason', 'ticket 2');
    assert.deepEqual(await stored(id), []);
    assert.deepEqual((await read(id)).notes, []);
    const { status, body } = await write(reviewer, id, 'Wilhelmina Quux again');
    assert.equal(status, 409);
    assert.match(body.error, /erased/);
    assert.deepEqual(await tablesWith(store, ['Wilhelmina']), []);
  });

  it('do not outlive an erasure that is under way when they are written', async () => {
    const { id } = await anApplication();
    const application = toApplicationId(id);
    let late: ReturnType<typeof write> | null = null;
    await inTransaction(runtime, async (session) => {
      await eraseNotes(session, [application]);
      late = write(reviewer, id, 'too late');
      const waits =
        "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%notes of an application%'";
      await eventually('the note to wait', async () => (await database.query(waits)).rows.length > 0);
      // The last step of the erasure takes the person out of the batch.
      await session.query(
        `UPDATE batches SET id_numbers = array_replace(id_numbers, id_numbers[position_of($1) + 1], erased_index())
         WHERE id = batch_of($1)`,
        [id],
      );
    });
    assert.equal((await late!).status, 409);
    assert.deepEqual(await stored(id), []);
  });

  it('go with their applications, over many partitions (docs/upkeep.md)', async () => {
    const { id } = await anApplication();
    await write(reviewer, id, 'stays');
    await database.query(
      `INSERT INTO application_notes (application_id, operator_id, seal_id, content)
       SELECT n * 128 * 8388608::bigint + 7, $1, gen_random_uuid(), '\\x01' FROM generate_series(2, 1300) AS n`,
      [ruth.id],
    );
    await runJob(runtime, 'delete notes and pends without applications');
    const { rows } = await database.query(
      'SELECT application_id FROM application_notes WHERE application_id > 1000000000',
    );
    assert.deepEqual(rows, []);
    assert.equal((await stored(id)).length, 1);
  });
});
