/** Nobody answers what was not shown: the offer and the contract, and the evidence of both (D43, D45, D46). */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { it } from 'node:test';
import { beginDue } from '../../src/conversation/uses/work.ts';
import type { NewEvidence } from '../../src/signing/rules/evidence.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodSigning, SHA } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const recorded: NewEvidence[] = [];
const signing = goodSigning({
  recordEvidence: async (_session, some) => void recorded.push(...some),
});
const { hear, settle, applicantAt, context, works } = await conversationsOf(store, key, { signing });
const { takeTurns } = await import('../../src/conversation/uses/turns.ts');

type Applicant = Awaited<ReturnType<typeof applicantAt>>;
const lastReply = async (ana: Applicant) => (await ana.replies()).at(-1);
const evidenceOf = ({ id }: Applicant) =>
  recorded.flatMap(({ applicationId, entries }) => (applicationId === id ? entries : []));

async function at(place: 'summary' | 'contract'): Promise<Applicant> {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  await ana.choose(0);
  if (place === 'contract') await ana.choose(0);
  return ana;
}

/** Everything up to the work that `answer` asks for; its end and what the person writes are one turn. */
async function writesMeanwhile(ana: Applicant, answer: () => Promise<unknown>, text: string): Promise<void> {
  await answer();
  await takeTurns(context);
  await Promise.all(await beginDue(works, 'others', 8, new AbortController().signal));
  await hear(await ana.textEvent(text));
  await takeTurns(context);
}

const tapFirst = async (ana: Applicant) => {
  const payload = (await lastReply(ana))?.buttons[0]?.payload;
  await hear(await ana.tapEvent(payload));
};

for (const text of ['acepto', 'sí', 'hola', '1234']) {
  it(`D46: "${text}", written while the contract is made, answers nothing, and the contract is shown`, async () => {
    const ana = await at('summary');
    await writesMeanwhile(ana, () => tapFirst(ana), text);
    await settle();
    assert.equal(await ana.place(), 'contract service');
    const reply = await lastReply(ana);
    assert.equal(reply?.document?.mediaId, 'media.contract');
    assert.match(reply?.text ?? '', /huella/);
    assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'contract_accepted'));
    await ana.choose(0);
    assert.equal(await ana.place(), 'code service');
  });
}

it('D45: a "sí" that came before the offer accepts none of its costs, and the offer is shown whole', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  // The income is checked, then the offer is computed.
  await tapFirst(ana);
  await takeTurns(context);
  await Promise.all(await beginDue(works, 'others', 8, new AbortController().signal));
  await takeTurns(context);
  await writesMeanwhile(ana, async () => {}, 'sí');
  await settle();
  assert.equal(await ana.place(), 'summary service');
  assert.match((await lastReply(ana))?.text ?? '', /8\.000\.000[\s\S]*Tasa efectiva anual/);
  assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'offer_accepted'));
});

it('D46: a withdrawal and a wish for a person count also in the turn that shows the contract', async () => {
  for (const [text, place] of [
    ['me arrepentí', 'withdrawn service'],
    ['asesor', 'contract operator'],
  ] as const) {
    const ana = await at('summary');
    await writesMeanwhile(ana, () => tapFirst(ana), text);
    await settle();
    assert.equal(await ana.place(), place);
  }
});

it('D46: the evidence has the hash of each text that was shown, and of the contract', async () => {
  const ana = await at('contract');
  await ana.choose(0);
  const texts = (await ana.replies()).map(({ text }) => hash('sha256', text));
  const entries = evidenceOf(ana);
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    [
      ...['data_consent_asked', 'data_consent_given', 'offer_shown', 'offer_accepted', 'contract_shown'],
      'contract_accepted',
    ],
  );
  const shownOf = (kind: string) => entries.find((one) => one.kind === kind)?.facts;
  assert.equal(shownOf('data_consent_asked')?.sha256, texts[0]);
  assert.ok(texts.includes(shownOf('offer_shown')?.sha256 as string));
  assert.deepEqual([shownOf('contract_shown')?.sha256, shownOf('contract_accepted')?.sha256], [SHA, SHA]);
  assert.equal(texts.at(-2), shownOf('contract_shown')?.text_sha256);
});

it('D46: who signs reads until when they may withdraw, and with which word', async () => {
  const ana = await at('contract');
  await ana.choose(0);
  await ana.write('1234');
  await ana.write('123456');
  assert.match((await lastReply(ana))?.text ?? '', /hasta el 30 de noviembre de 2026: escribe RETRACTO/);
  await ana.write('RETRACTO');
  assert.equal(await ana.place(), 'withdrawn service');
});

it('D46: what the closed window keeps back is no evidence of anything shown', async () => {
  const ana = await at('summary');
  await tapFirst(ana);
  await takeTurns(context);
  await database.query(
    "UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1",
    [ana.id],
  );
  await settle();
  assert.ok(!evidenceOf(ana).some(({ kind }) => kind === 'contract_shown'));
  await ana.write('acepto');
  assert.equal(await ana.place(), 'contract service');
  assert.equal((await lastReply(ana))?.document?.mediaId, 'media.contract');
  assert.equal(evidenceOf(ana).filter(({ kind }) => kind === 'contract_shown').length, 1);
});
