/** Every cause of a message has one message: a registration with consent, and a review of one (D33, D40). */
import type { Found, History, StoredApplication, StoredMessage } from '../history.ts';
import { applicationOf, type Lookup } from '../lookup.ts';

/** The message of a registration, by its decision (contract, "Events"). */
const FIRST = { approved: 'approved', in_review: 'offer', rejected: 'rejected' } as const;

export function checkMessages({ store }: History, lookup: Lookup): Found[] {
  const byApplication = Map.groupBy(store.messages, ({ messageId }) => applicationOf(messageId));
  const strays = [...byApplication.keys()].filter((id) => lookup.stored(id) === undefined);
  return [
    ...strays.map((id) => ({ partnerId: null, text: `a message of ${id}, which is not stored` })),
    ...store.applications.flatMap((application) =>
      textsOf(application, byApplication.get(application.id) ?? []).map((text) => ({
        partnerId: application.partnerId,
        text: `${application.id}: ${text}`,
      })),
    ),
  ];
}

function textsOf(application: StoredApplication, messages: readonly StoredMessage[]): string[] {
  const { id, optin, moves, decision } = application;
  const first = messages.filter(({ messageId }) => messageId === String(id));
  const due = optin ? 1 : 0;
  const texts =
    first.length === due ? [] : [`${first.length} messages of its registration instead of ${due}`];
  for (const { type } of first) {
    if (decision !== null && type !== FIRST[decision]) texts.push(`${decision}, and told ${type}`);
  }
  const strays = messages.filter(
    ({ messageId, type }) => messageId !== String(id) && type === 'offer',
  ).length;
  if (strays > 0) texts.push(`${strays} offers beside the message of its registration`);
  for (const [action, type] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    const causes = optin ? moves.filter((move) => move.action === action).length : 0;
    const made = messages.filter(
      (message) => message.messageId !== String(id) && message.type === type,
    ).length;
    if (made !== causes) texts.push(`${made} messages after ${causes} times ${action}`);
  }
  return texts;
}
