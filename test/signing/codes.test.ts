/** How long proofs hold, and how many codes go out: of an application, of a phone and of a country (D46). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { SIGNING_CODES } from '../../src/subjects/signing/sql/tables.ts';
import { sendCode } from '../../src/subjects/signing/uses/send-code.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { shifted } from '../support/shifted.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { context, codes, begin, make, answer, accept, lastFourOf, json } = signing;

const idOf = async (id: ApplicationId) => answer(id, 'last_four', await lastFourOf(id));
/** As if so much time had passed since everything that was proven. */
const pass = (id: ApplicationId, minutes: number) =>
  database.query(
    `UPDATE signing_codes SET ${['began_at', 'ends_at', 'id_checked_at', 'coded_at']
      .map((column) => `${column} = ${shifted(column, '$2::interval')}`)
      .join()} WHERE application_id = $1`,
    [id, `-${minutes} minutes`],
  );
const kindOf = async (id: ApplicationId, changes: Partial<typeof context> = {}) =>
  (await sendCode({ ...context, ...changes }, id)).kind;

describe('how long a proof holds', () => {
  it('D46: who asks for another code after the first one expired can still sign', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await idOf(id);
    await sendCode(context, id);
    await pass(id, 11);
    assert.equal(await answer(id, 'code', codes.last), 'expired');
    assert.equal(await kindOf(id), 'sent');
    assert.equal(await answer(id, 'code', codes.last), 'right');
    assert.equal(await accept(id, sha256), 'signed');
  });

  it('D46: the evidence has the time at which the ID number was proven, not that of a later code', async () => {
    const id = await begin();
    const { sha256 } = await make(id);
    await idOf(id);
    await sendCode(context, id);
    await pass(id, 11);
    await sendCode(context, id);
    await answer(id, 'code', codes.last);
    await accept(id, sha256);
    const { facts } = (await json('contract', 'show', `${id}`)).evidence.at(-1);
    const apart = Date.parse(facts.code_checked_at) - Date.parse(facts.id_checked_at);
    assert.ok(apart >= 11 * 60_000, `${apart} ms`);
  });

  it('D46: after an hour the last four characters are asked for again, and no code is paid for', async () => {
    const id = await begin();
    await make(id);
    await idOf(id);
    await sendCode(context, id);
    await pass(id, 61);
    const before = codes.sent.length;
    assert.equal(await kindOf(id), 'no_proof');
    assert.equal(codes.sent.length, before);
    await idOf(id);
    assert.equal(await kindOf(id), 'sent');
  });
});

describe('to whom no code goes out', () => {
  it('D43: to a phone that opted out meanwhile, and of an application that was rejected meanwhile', async () => {
    const quiet = await begin();
    const rejected = await begin();
    for (const id of [quiet, rejected]) {
      await make(id);
      await idOf(id);
    }
    const [{ phone_index }] = (
      await database.query('SELECT phone_index FROM applications_of(ARRAY[$1::bigint])', [quiet])
    ).rows;
    await database.query("INSERT INTO suppressions (phone_index, source) VALUES ($1, 'keyword')", [
      phone_index,
    ]);
    await json('application', 'reject', `${rejected}`, '--reason', 'x');
    const before = codes.sent.length;
    assert.deepEqual(await sendCode(context, quiet), { kind: 'failed', reason: 'suppressed' });
    assert.deepEqual(await sendCode(context, rejected), { kind: 'failed', reason: 'not_signable' });
    assert.equal(codes.sent.length, before);
  });
});

describe('how many codes go out', () => {
  const phone = '+573019990001';
  /** An application of the phone; the one before it is final. */
  const another = async (before: ApplicationId | null): Promise<ApplicationId> => {
    if (before !== null) await json('application', 'reject', `${before}`, '--reason', 'x');
    const id = await begin({ phone: toPhone(phone) });
    await make(id);
    await idOf(id);
    return id;
  };

  it('D46: ten to a phone in 24 hours, over all its applications', async () => {
    let id = await another(null);
    for (let sent = 0; sent < 10; sent += 1) {
      if (sent === 5) id = await another(id);
      assert.equal(await kindOf(id), 'sent', `${sent}`);
    }
    const last = await another(id);
    const before = codes.sent.length;
    assert.equal(await kindOf(last), 'too_many');
    assert.equal(codes.sent.length, before);
    assert.match(signing.lines.at(-1)?.text ?? '', /a phone has had its codes of 24 hours/);
    assert.doesNotMatch(JSON.stringify(signing.lines.at(-1)), /57301/);
    await database.query("UPDATE signing_codes SET coded_at = now() - interval '24 hours'");
    assert.equal(await kindOf(last), 'sent');
  });

  it('D46: to a country no more an hour than the operator says, also of many at once; the log says so', async () => {
    const ids: ApplicationId[] = [];
    while (ids.length < 6) {
      const id = await begin();
      await make(id);
      await idOf(id);
      ids.push(id);
    }
    const { rows } = await database.query<{ sent: number }>(
      `SELECT count(*)::integer AS sent FROM signing_codes
      WHERE country = 'CO' AND coded_at > now() - interval '1 hour'`,
    );
    const codesAnHour = (rows[0]?.sent ?? 0) + 3;
    const six = () => Promise.all(ids.map((id) => kindOf(id, { codesAnHour })));
    const kinds = await besideLock(database, 'LOCK TABLE signing_codes IN SHARE MODE', six, 6);
    assert.deepEqual(kinds.toSorted(), ['sent', 'sent', 'sent', 'too_many', 'too_many', 'too_many']);
    const { facts, text } = signing.lines.at(-1) ?? { facts: {}, text: '' };
    assert.equal((facts as { country?: string }).country, 'CO');
    assert.match(text, /^ALARM: a country has had its codes/);
  });

  it('D46: none to a number of no country', async () => {
    const id = await begin({ phone: toPhone('+881612345678') });
    await make(id);
    await idOf(id);
    assert.deepEqual(await sendCode(context, id), { kind: 'failed', reason: 'no_country' });
  });

  it('rounds are forgotten after two days of the clock and of elapsed time, not before', async () => {
    const id = await begin();
    await make(id);
    await idOf(id);
    const rounds = async () =>
      (await database.query('SELECT FROM signing_codes WHERE application_id = $1', [id])).rowCount;
    await database.query(
      "UPDATE signing_codes SET began_at = now() - interval '49 hours' WHERE application_id = $1",
      [id],
    );
    await forgetRows(database, SIGNING_CODES);
    assert.equal(await rounds(), 1);
    await database.query(
      'UPDATE signing_codes SET elapsed_ms = elapsed_ms - 49 * 3600000::bigint WHERE application_id = $1',
      [id],
    );
    await forgetRows(database, SIGNING_CODES);
    assert.equal(await rounds(), 0);
  });
});
