/** Conversations for tests: applicants who send events, and a loop that the test turns itself. */
import assert from 'node:assert/strict';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { Outlook } from '../../src/domain/conversation/input.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import type { ReplyContent } from '../../src/domain/message/reply.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { channelIndexOf } from '../../src/seal/blind-indexes.ts';
import type { WorkKind } from '../../src/subjects/conversation/sql/work.ts';
import { hearMessages } from '../../src/subjects/conversation/uses/hear.ts';
import type { Performer, Signing } from '../../src/subjects/conversation/uses/ports.ts';
import { type RoundPlace, sweepConversations } from '../../src/subjects/conversation/uses/sweep.ts';
import { type TurnContext, takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { beginDue, type WorkContext } from '../../src/subjects/conversation/uses/work.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { replyIdentity } from '../../src/subjects/messages/sql/replies.ts';
import { applicant, IN_REVIEW } from './applicant.ts';
import { sessionsOf, type testDatabase } from './database.ts';
import { registrarOf } from './intake.ts';
import { setMessages } from './messages.ts';
import { TERMS } from './terms.ts';
import { untilDone } from './until-done.ts';

export const SHA = 'a'.repeat(64);
const SIGNED_SHA = 'b'.repeat(64);

const OUTLOOK: Outlook = {
  isPossible: true,
  ...{ amount: '$ 8.000.000', months: '24', installment: '$ 400.000' },
};

/** Neighbours for whom everything goes well. A test changes what it is about. */
export function goodPerformer(changes: Partial<Performer> = {}): Performer {
  return {
    readDocument: async () => 'accepted',
    checkIncome: async () => 'confirmed',
    answerSource: async () => 'confirmed',
    outlook: async () => OUTLOOK,
    offer: async () => ({
      ...{
        amount: '$ 8.000.000',
        net: '$ 7.900.000',
        creditors: '$ 7.000.000',
        toApplicant: '$ 900.000',
        installment: '$ 400.000',
      },
      ...{ months: '24', total: '$ 9.600.000' },
      ...{
        interestRate: '16,00 %',
        interestRateName: 'Tasa de interés',
        firstDue: '1 de enero',
        validUntil: '2 de enero',
        fees: '$ 200.000',
        taxes: '$ 0',
        lateRate: '1,8 % al mes',
        disbursement: '1 de diciembre',
        withdrawal: '5 días hábiles',
      },
      ...{ rate: '18,00 %', rateName: 'Tasa efectiva anual', lender: 'Prestamista', costs: 'costs' },
    }),
    makeContract: async () => ({
      sha256: SHA,
      mediaId: 'media.contract',
      filename: 'contrato.pdf',
      costs: 'costs',
    }),
    finishContract: async () => ({
      ...{ sha256: SIGNED_SHA, mediaId: 'media.signed', filename: 'contrato-firmado.pdf' },
    }),
    makeSchedule: async () => null,
    sendCode: async () => ({ result: 'sent', way: 'SMS', minutes: 10 }),
    ...changes,
  };
}

export function goodSigning(changes: Partial<Signing> = {}): Signing {
  return {
    checkAnswer: async (_session, _id, question, text) => ({
      result: text === (question === 'last_four' ? '1234' : '123456') ? 'right' : 'wrong',
      evidence: [],
    }),
    sign: async () => ({
      ...{ result: 'signed', evidence: [] },
      withdrawal: { until: new Date('2026-12-01T05:00:00Z'), lastDay: '2026-11-30' },
    }),
    tellDebts: async () => ({ kind: 'debts', result: 'told', debts: 'Banco Azul: $ 1', sum: '$ 1' }),
    readDebts: async () => ({ kind: 'debts', result: 'same' }),
    askDebts: async () => ({ kind: 'debts', result: 'none' }),
    forgetDebts: async () => {},
    withdraw: async () => ({ result: 'withdrawn', evidence: [] }),
    recordEvidence: async () => {},
    rejectWithdrawn: async () => {},
    ...changes,
  };
}

let serial = 3_500_000_000;
let message = 0;

/** Everything around the conversations of a store. */
export async function conversationsOf(
  store: Awaited<ReturnType<typeof testDatabase>>,
  key: number,
  {
    performer = goodPerformer(),
    signing = goodSigning(),
    mayRemind = () => true,
  }: Partial<Pick<TurnContext, 'signing' | 'mayRemind'> & { performer: Performer }> = {},
) {
  const { database, vault } = store;
  const sessions = sessionsOf(store);
  const register = await registrarOf(store);
  const faults: unknown[] = [];
  const context: TurnContext = {
    ...{ database: sessions, vault, clock: machineClock, signing, flows: new Map(), mayRemind },
    termsOf: () => TERMS.countries.CO,
    onFault: (_id, error) => faults.push(error),
  };
  const hear = (...events: ChannelEvent[]) =>
    applyChannelEvents(
      {
        ...{ database: sessions, vault },
        hear: async (heard) => void (await hearMessages({ database: sessions, vault }, heard)),
      },
      events,
    );
  const works = {
    database: sessions,
    vault,
    clock: machineClock,
    performer,
    onFailure: (_work: unknown, error: unknown) => faults.push(error),
  };
  const perform = (kind: WorkKind) => performDue(works, kind);
  /** The channel takes what is queued. */
  const deliver = () =>
    database.query(
      // A person reads what has come before answering it.
      "UPDATE replies SET status = 'delivered', sent_at = now(), delivered_at = now() - interval '2 seconds' WHERE status = 'queued'",
    );
  /** Turns, deliveries and work until nothing is left to do. */
  const settle = () =>
    untilDone(async () => {
      const turns = await takeTurns(context);
      await deliver();
      const performed = (await perform('files')) + (await perform('others'));
      return turns + performed === 0;
    });

  /** An applicant whose offer is delivered as `wamid.ID`, or waits in the outbox. */
  async function applicantAt(changes: object = {}, isDelivered = true) {
    const phone = toPhone(`+57${++serial}`);
    const [id] = await register(key, [applicant({ phone, ...IN_REVIEW, ...changes })]);
    const number = id as number;
    if (!isDelivered) return person(number, phone);
    await setMessages(database, [number], {
      status: 'delivered',
      attempts: 1,
      channelMessageId: channelIndexOf(vault, `wamid.${number}`),
    });
    return person(number, phone);
  }

  /** Somebody who waits for the review, with everything else done. */
  async function inReview() {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    await ana.choose(0);
    await ana.choose(0);
    assert.equal(await ana.place(), 'checking service');
    return ana;
  }

  function person(id: number, phone: ReturnType<typeof toPhone>) {
    const common = async (at?: Date) => ({
      ...{ from: phone, userId: null, contextMessageId: null, messageId: `wamid.in.${++message}` },
      at: at ?? (await databaseTime(database)),
    });
    const self = {
      id,
      phone,
      tapEvent: async (payload = interestPayload(toApplicationId(id)), at?: Date): Promise<ChannelEvent> => ({
        ...{ kind: 'tap', payload, title: null, ...(await common(at)) },
      }),
      textEvent: async (body: string, at?: Date): Promise<ChannelEvent> => ({
        kind: 'text',
        body,
        ...(await common(at)),
      }),
      fileEvent: async (mediaId = 'media.1'): Promise<ChannelEvent> => ({
        ...{ kind: 'file', media: 'document', mediaId, claimedType: 'application/pdf', claimedSha256: null },
        ...{ filename: 'extracto.pdf', caption: null, ...(await common()) },
      }),
      /** The tap on "I am interested", and everything that follows. */
      tap: async (payload?: string) => {
        await hear(await self.tapEvent(payload));
        await settle();
      },
      write: async (body: string) => {
        await hear(await self.textEvent(body));
        await settle();
      },
      /** A file, and the wait for more files skipped. */
      sendFile: async () => {
        await hear(await self.fileEvent());
        await skipPause();
        await settle();
      },
      row: async () => {
        const { rows } = await database.query(
          'SELECT * FROM conversations WHERE application_id = $1 ORDER BY id DESC',
          [id],
        );
        return rows[0];
      },
      place: async () => {
        const { place, held_by } = (await self.row()) ?? {};
        return `${place} ${held_by}`;
      },
      replies: async (): Promise<ReplyContent[]> => {
        const { rows } = await database.query<{ turn: number; content: Buffer }>(
          'SELECT turn, content FROM replies WHERE application_id = $1 ORDER BY turn',
          [id],
        );
        return rows.map(({ turn, content }) =>
          JSON.parse(vault.open(content, replyIdentity(toApplicationId(id), turn)).toString()),
        );
      },
      /** Taps the button at an index of the last reply. */
      choose: async (index: number) => {
        const [reply] = (await self.replies()).slice(-1);
        const payload = reply?.buttons[index]?.payload;
        assert.ok(payload, `the last reply has no button ${index}: ${reply?.text}`);
        await self.tap(payload);
      },
      events: async () => {
        const { rows } = await database.query<{ type: string; outcome: string | null }>(
          `SELECT type, outcome FROM partner_events WHERE application_id = $1 AND is_of_conversation(type) ORDER BY number`,
          [id],
        );
        return rows.map(({ type, outcome }) => (outcome === null ? type : `${type} ${outcome}`));
      },
    };
    return self;
  }

  const skipPause = () =>
    database.query(`UPDATE conversation_inputs SET settles_at = stored_at WHERE turn IS NULL`);
  let after: RoundPlace = null;
  const sweep = async () => {
    const look = await sweepConversations({ database: sessions, vault }, after);
    after = look.after;
    return look.told;
  };
  return {
    context,
    works,
    hear,
    settle,
    perform,
    deliver,
    sweep,
    skipPause,
    applicantAt,
    inReview,
    person,
    faults,
  };
}

/** Does the work of a kind that is due, to its end. Resolves to how much it was. */
export async function performDue(works: WorkContext, kind: WorkKind): Promise<number> {
  const turn = { room: 8, held: [], cut: new AbortController().signal };
  const begun = await beginDue(works, kind, turn);
  await Promise.all(begun.map(({ ended }) => ended));
  return begun.length;
}
