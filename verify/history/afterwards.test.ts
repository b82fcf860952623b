/** The checker of histories: what it says of messages and events, by small made-up histories. */
import { type Break, inStore, testBreaks } from './example.ts';

const BREAKS: readonly Break[] = [
  [
    'a registration without its message',
    'messages',
    (history) => inStore(history, { messages: history.store.messages.slice(1) }),
  ],
  [
    'two messages of one registration',
    'messages',
    (history) => inStore(history, { messages: [history.store.messages[0]!, ...history.store.messages] }),
  ],
  [
    'a message without consent',
    'messages',
    (history) =>
      inStore(history, {
        applications: history.store.applications.map((one) => ({ ...one, optin: false })),
      }),
  ],
  [
    'a message of an application that is not stored',
    'messages',
    (history) => {
      const stray = { messageId: '999', type: 'offer', status: 'cancelled' } as const;
      return inStore(history, { messages: [...history.store.messages, stray] });
    },
  ],
  [
    'a review without its message',
    'messages',
    (history) => {
      const messages = history.store.messages.filter(({ messageId }) => BigInt(messageId) < 1n << 54n);
      return inStore(history, { messages });
    },
  ],
  [
    'a message that went out twice',
    'sends',
    (history) => ({ ...history, sends: [history.sends[0]!, ...history.sends] }),
  ],
  ['a message that did not go out', 'sends', (history) => ({ ...history, sends: history.sends.slice(1) })],
  [
    'a cancelled message that went out',
    'sends',
    (history) => {
      const [first, ...others] = history.store.messages;
      return inStore(history, { messages: [{ ...first!, status: 'cancelled' }, ...others] });
    },
  ],
  [
    'a message that waits for ever',
    'sends',
    (history) => {
      const [first, ...others] = history.store.messages;
      return inStore(history, { messages: [{ ...first!, status: 'queued' }, ...others] });
    },
  ],
  [
    'a message to a phone that opted out',
    'optOuts',
    (history) => {
      const optOuts = history.sends.map(({ phone }) => ({ phone, seen: { atMs: 0, messageIds: [] } }));
      return { ...history, optOuts };
    },
  ],
  [
    'an approval that is told after the rejection',
    'outdated',
    (history) => {
      const { messageId } = history.sends.at(-2)!;
      const messages = history.store.messages.map((one) =>
        one.messageId === messageId ? ({ ...one, type: 'approved' } as const) : one,
      );
      const sends = history.sends.map((one) => ({
        ...one,
        atMs: one.messageId === messageId ? 1e9 : one.atMs,
      }));
      return inStore({ ...history, sends }, { messages });
    },
  ],
  [
    'four messages to one phone',
    'recipients',
    (history) => ({ ...history, sends: history.sends.map((one) => ({ ...one, phone: '+521' })) }),
  ],
  [
    'two rejections to one phone',
    'recipients',
    (history) => {
      const sends = history.sends.slice(0, 2).map((one) => ({ ...one, phone: '+521' }));
      const messages = history.store.messages.map((one) => ({ ...one, type: 'rejected' }) as const);
      return inStore({ ...history, sends }, { messages });
    },
  ],
  [
    'a gap in the events',
    'events',
    (history) => inStore(history, { events: history.store.events.filter(({ number }) => number !== 2) }),
  ],
  [
    'two events in the wrong order',
    'events',
    (history) => {
      const [first, second, ...others] = history.store.events;
      const events = [
        { ...first!, number: second!.number },
        { ...second!, number: first!.number },
        ...others,
      ];
      return inStore(history, { events });
    },
  ],
  [
    'an event without a cause',
    'events',
    (history) => {
      const stray = { ...history.store.events[0]!, number: 4, id: 'evt_1_4' };
      return inStore(history, { events: [...history.store.events, stray] });
    },
  ],
  [
    'a feed that tells an event twice',
    'events',
    (history) => ({
      ...history,
      feeds: history.feeds.map((feed) => ({ ...feed, events: [...feed.events, ...feed.events] })),
    }),
  ],
  [
    'a feed that leaves an event out',
    'events',
    (history) => ({
      ...history,
      feeds: history.feeds.map((feed) => ({ ...feed, events: feed.events.slice(1) })),
    }),
  ],
  [
    'a feed that names another person',
    'events',
    (history) => ({
      ...history,
      feeds: history.feeds.map((feed) => ({
        ...feed,
        events: feed.events.map((event) => ({ ...event, idNumber: '109' })),
      })),
    }),
  ],
  [
    'a push that does not come',
    'events',
    (history) => ({ ...history, pushes: history.pushes.map((one) => ({ ...one, ids: one.ids.slice(1) })) }),
  ],
  [
    'pushes in the wrong order',
    'events',
    (history) => ({
      ...history,
      pushes: history.pushes.map((one) => ({ ...one, ids: one.ids.toReversed() })),
    }),
  ],
];

testBreaks(['messages', 'sends', 'optOuts', 'outdated', 'recipients', 'events'], BREAKS);
