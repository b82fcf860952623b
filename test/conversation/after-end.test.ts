/** What a person hears who writes after the end, or while nothing is asked (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodSigning } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { applicantAt, inReview } = await conversationsOf(store, key, { signing: goodSigning() });
type Applicant = Awaited<ReturnType<typeof applicantAt>>;

async function signed(): Promise<Applicant> {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  for (let steps = 0; steps < 4; steps += 1) await ana.choose(0);
  await ana.write('1234');
  await ana.write('123456');
  assert.equal(await ana.place(), 'signed service');
  return ana;
}
const last = async (ana: Applicant) => (await ana.replies()).at(-1)?.text ?? '';
const count = async (ana: Applicant) => (await ana.replies()).length;
/** The person wrote the last time two days ago. */
const twoDaysLater = ({ id }: Applicant) =>
  database.query(
    `UPDATE conversations SET heard_at = ${shifted('heard_at', "interval '-2 days'")} WHERE application_id = $1`,
    [id],
  );

describe('after a signature', () => {
  it('a question is answered with what is known and the way to a person, once a day', async () => {
    const ana = await signed();
    const before = await count(ana);
    await ana.write('cuando me depositan?');
    assert.match(await last(ana), /Tu contrato está firmado[\s\S]*escribe ASESOR/);
    for (const text of ['hola?', 'y el dinero', 'gracias']) await ana.write(text);
    assert.equal(await count(ana), before + 1);
    await twoDaysLater(ana);
    await ana.write('sigo esperando');
    assert.equal(await count(ana), before + 2);
    assert.match(await last(ana), /escribe ASESOR/);
    await twoDaysLater(ana);
    await ana.write('gracias');
    assert.equal(await count(ana), before + 2);
    await ana.write('ASESOR');
    assert.equal(await ana.place(), 'signed operator');
    assert.ok((await ana.row()).waits_since !== null);
  });
});

describe('after another end', () => {
  it('who writes after it hears how it ended and the way to a person, once a day', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('no, gracias');
    assert.equal(await ana.place(), 'declined service');
    const before = await count(ana);
    await ana.write('hola?');
    assert.match(await last(ana), /No seguimos[\s\S]*escribe ASESOR/);
    await ana.write('hola?');
    assert.equal(await count(ana), before + 1);
    await twoDaysLater(ana);
    await ana.write('hola?');
    assert.equal(await count(ana), before + 2);
  });

  it('an opt-out stays silent, also days later', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('BAJA');
    const before = await count(ana);
    await twoDaysLater(ana);
    await ana.write('hola?');
    assert.equal(await count(ana), before);
  });
});

it('who waits for a review hears the way to a person before the service falls silent for the day', async () => {
  const ana = await inReview();
  const before = await count(ana);
  for (let messages = 0; messages < 5; messages += 1) {
    assert.doesNotMatch(await last(ana), /ASESOR/);
    await ana.write('¿cuánto se demora?');
  }
  assert.match(await last(ana), /está en revisión[\s\S]*escribe ASESOR/);
  await ana.write('¿hola?');
  assert.equal(await count(ana), before + 5);
  await twoDaysLater(ana);
  await ana.write('¿hola?');
  assert.match(await last(ana), /está en revisión/);
  assert.equal(await count(ana), before + 6);
});
