/** The checker of histories: what nobody caused, and what is of another person or partner. By made-up histories. */
import { type Break, inBatch, inStore, testBreaks } from './example.ts';
import type { History, StoredApplication } from './history.ts';

/** The second batch gets no answer; `change` says what is stored of its first application, which is rejected. */
function unanswered(history: History, change: (one: StoredApplication) => StoredApplication[]): History {
  const { idNumber } = history.batches[1]!.applications[0]!;
  const silent = inBatch(history, 1, ({ calls }) => ({
    calls: calls.map((call) => ({ ...call, answer: null })),
  }));
  const applications = history.store.applications.flatMap((one) =>
    one.idNumber === idNumber ? change(one) : [one],
  );
  return inStore(silent, { applications });
}

const BREAKS: readonly Break[] = [
  [
    'a registration that is told another decision',
    'messages',
    (history) => {
      const [first, ...others] = history.store.messages;
      return inStore(history, { messages: [{ ...first!, type: 'rejected' }, ...others] });
    },
  ],
  [
    'an offer without a cause',
    'messages',
    (history) => {
      const messageId = String(BigInt(history.store.applications[1]!.id) + (1n << 54n));
      const stray = { messageId, type: 'offer', status: 'cancelled' } as const;
      return inStore(history, { messages: [...history.store.messages, stray] });
    },
  ],
  [
    'a send of a message that is not stored',
    'sends',
    (history) => ({
      ...history,
      sends: [...history.sends, { messageId: '999', isFailed: false, phone: '+521', atMs: 0 }],
    }),
  ],
  [
    "an event of another partner's application",
    'events',
    (history) => {
      const { id: applicationId, idNumber } = history.store.applications.find(
        ({ partnerId }) => partnerId === 1,
      )!;
      const stray = { partnerId: 2, number: 1, id: 'evt_2_1', type: 'application.interested' } as const;
      const events = [...history.store.events, { ...stray, applicationId, from: null, to: null }];
      const of = <Part extends { partnerId: number }>(parts: readonly Part[]) =>
        parts.filter(({ partnerId }) => partnerId === 1);
      const told = { id: stray.id, type: stray.type, applicationId, idNumber };
      return {
        ...inStore(history, { events }),
        feeds: [...of(history.feeds), { partnerId: 2, events: [told] }],
        pushes: [...of(history.pushes), { partnerId: 2, ids: ['evt_2_1'] }],
      };
    },
  ],
  [
    'a feed that tells another type of event',
    'events',
    (history) => ({
      ...history,
      feeds: history.feeds.map((feed) => ({
        ...feed,
        events: feed.events.map((event) => ({ ...event, type: 'message.failed' as const })),
      })),
    }),
  ],
  [
    'a feed that tells of another application',
    'events',
    (history) => {
      const { id: applicationId, idNumber } = history.store.applications.at(-1)!;
      const feeds = history.feeds.map((feed) => ({
        ...feed,
        events: feed.events.map((event) => ({ ...event, applicationId, idNumber })),
      }));
      return { ...history, feeds };
    },
  ],
  [
    'a feed that nobody noted',
    'events',
    (history) => ({ ...history, feeds: history.feeds.filter(({ partnerId }) => partnerId !== 1) }),
  ],
  [
    'a push to another partner',
    'events',
    (history) => ({
      ...history,
      pushes: history.pushes.map((one) => (one.partnerId === 2 ? { ...one, ids: ['evt_1_1'] } : one)),
    }),
  ],
  [
    'a batch with a key and without an answer that is stored twice',
    'acknowledged',
    (history) => unanswered(history, (one) => [one, { ...one, id: 999 }]),
  ],
  [
    'a review that is not allowed',
    'acknowledged',
    (history) => {
      const [first, ...others] = history.store.applications;
      const again = { ...first!.moves.at(-1)!, action: 'reject', from: 'rejected', to: 'rejected' } as const;
      return inStore(history, {
        applications: [{ ...first!, moves: [...first!.moves, again] }, ...others],
      });
    },
  ],
  [
    'a decision without its status',
    'acknowledged',
    (history) => unanswered(history, (one) => [{ ...one, decision: 'approved' }]),
  ],
  [
    'an application without an answer that is stored for another partner',
    'refused',
    (history) => unanswered(history, (one) => [{ ...one, partnerId: 1 }]),
  ],
  [
    'an application without an answer that is stored with another consent',
    'refused',
    (history) => unanswered(history, (one) => [{ ...one, optin: true }]),
  ],
];

testBreaks(['messages', 'sends', 'events', 'acknowledged', 'refused'], BREAKS);
