/** Conversations with the real offers, contracts, codes and evidence: files and incomes go well. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { APPROVED } from './applicant.ts';
import { conversationsOf, goodPerformer } from './conversations.ts';
import type { testDatabase } from './database.ts';
import type { testSigning } from './signing.ts';

const NO_FILES = { documents: undefined as never, income: undefined as never };

/** Call this at the top of a test file. `context` takes the place of the signing's own. */
export async function signingChat(
  store: Awaited<ReturnType<typeof testDatabase>>,
  signing: Awaited<ReturnType<typeof testSigning>>,
  context = signing.context,
) {
  const simulator = new Simulator(async () => {}, machineClock);
  after(() => simulator.close());
  const real = performerOf({ ...NO_FILES, signing: context, channel: simulator });
  const { offer, makeContract, sendCode, finishContract, makeSchedule } = real;
  const chat = await conversationsOf(store, signing.key, {
    performer: goodPerformer({ offer, makeContract, sendCode, finishContract, makeSchedule }),
    signing: signingOf(store.vault),
  });
  type Somebody = Awaited<ReturnType<typeof chat.applicantAt>>;

  /** At the question for the debts: tells one that the loan can pay, and confirms the list. */
  async function tellDebts(somebody: Somebody): Promise<void> {
    await somebody.write('Banco Azul 5.700.000');
    await somebody.choose(0);
  }

  /** From the tap to the question for the code. */
  async function toTheCode(somebody: Somebody): Promise<void> {
    await somebody.tap();
    await somebody.choose(0);
    await somebody.sendFile();
    await somebody.choose(0);
    await tellDebts(somebody);
    // The offer, and the contract.
    for (let step = 0; step < 2; step += 1) await somebody.choose(0);
    await somebody.write(await signing.lastFourOf(somebody.id as ApplicationId));
    assert.equal(await somebody.place(), 'code service', String(chat.faults));
  }

  /** Somebody who has signed. */
  async function signed(): Promise<Somebody> {
    const somebody = await chat.applicantAt(APPROVED);
    await toTheCode(somebody);
    await somebody.write(signing.codes.last);
    assert.equal(await somebody.place(), 'signed service', String(chat.faults));
    return somebody;
  }

  return { ...chat, simulator, tellDebts, toTheCode, signed };
}
