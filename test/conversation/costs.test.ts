/** The costs that were accepted are the costs of the contract, also where the terms change meanwhile (D45). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { readContract } from '../../src/subjects/signing/sql/contracts.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { TERMS } from '../support/terms.ts';

const NO_FILES = { documents: undefined as never, income: undefined as never };
const store = await testDatabase();
const { context, codes, lastFourOf, json, key } = await testSigning(store);
const simulator = new Simulator(async () => {}, machineClock);
after(() => simulator.close());
let { terms } = context;
const changing = {
  ...context,
  get terms() {
    return terms;
  },
};
const real = performerOf({ ...NO_FILES, signing: changing, channel: simulator });
const { applicantAt, settle, faults } = await conversationsOf(store, key, {
  performer: goodPerformer({
    offer: real.offer,
    makeContract: real.makeContract,
    sendCode: real.sendCode,
  }),
  signing: signingOf(store.vault),
});

function setTerms(changes: object): void {
  const countries = { CO: { ...TERMS.countries.CO, ...changes } };
  terms = checkTerms({ ...TERMS, countries }, 'terms.json');
}
const monthlyRate = (rate: string) => setTerms({ monthly_rate: rate });

type Somebody = Awaited<ReturnType<typeof applicantAt>>;

/** The monthly installments that the person has read, in order. */
async function installments(somebody: Somebody): Promise<string[]> {
  return (await somebody.replies()).flatMap(({ text }) => /Cuota mensual: (.+)/.exec(text)?.[1] ?? []);
}

it('terms that change after the offer: it holds, and so does its contract', async () => {
  monthlyRate('1.8');
  const ana = await toSummary();
  monthlyRate('2.1');
  await ana.choose(0);
  assert.equal(await ana.place(), 'contract service', String(faults));
  // From here on the contract stays as it was shown, whatever becomes of the terms.
  monthlyRate('1.5');
  await ana.choose(0);
  await ana.write(await lastFourOf(ana.id as ApplicationId));
  await ana.write(codes.last);
  assert.equal(await ana.place(), 'signed service', String(faults));
  assert.equal((await installments(ana)).length, 1);
  const { terms: stored } = (await readContract(store.database, ana.id as ApplicationId))!;
  assert.equal(stored.offer.monthlyRate, '1.8');
});

it('a legal maximum that falls below the offer: the new costs are shown and accepted before the contract', async () => {
  monthlyRate('1.8');
  const ana = await toSummary();
  const day = new Date();
  const months = [-1, 0, 1].map((more) => {
    const month = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + more, 1));
    return [month.toISOString().slice(0, 7), '15'];
  });
  setTerms({ monthly_rate: '1', late_rate: '1', legal_maximum: Object.fromEntries(months) });
  await ana.choose(0);
  assert.equal(await ana.place(), 'summary service', String(faults));
  assert.equal(new Set(await installments(ana)).size, 2, 'the offer came again, with other costs');
  const replies = await ana.replies();
  assert.ok(
    replies.every(({ document }) => !document),
    'no contract was shown',
  );
  await ana.choose(0);
  assert.equal(await ana.place(), 'contract service', String(faults));
});

it('terms that change between two conversations: the offer is the one of the contract that may be signed', async () => {
  monthlyRate('1.8');
  const eva = await toSummary();
  await eva.choose(0);
  assert.equal(await eva.place(), 'contract service', String(faults));
  await json('conversation', 'close', `${eva.id}`);
  await settle();
  monthlyRate('2.1');
  await json('conversation', 'start', `${eva.id}`);
  await settle();
  await eva.write('hola');
  await onTo(eva);
  await eva.choose(0);
  assert.equal(await eva.place(), 'contract service', String(faults));
  const [first, ...others] = await installments(eva);
  assert.ok(first);
  assert.deepEqual(others, [first]);
});

async function toSummary(): Promise<Somebody> {
  const somebody = await applicantAt(APPROVED);
  await somebody.tap();
  await onTo(somebody);
  return somebody;
}

/** From the consent to the offer. */
async function onTo(somebody: Somebody): Promise<void> {
  await somebody.choose(0);
  await somebody.sendFile();
  await somebody.choose(0);
  await somebody.write('Banco Azul 5.700.000');
  await somebody.choose(0);
  assert.equal(await somebody.place(), 'summary service', String(faults));
}
