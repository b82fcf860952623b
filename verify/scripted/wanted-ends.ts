/** How the conversation of a person has to end. */
import type { Ends, Script } from './scripts.ts';
import type { PersonSeen, Stored } from './seen.ts';

const ACTS = ['withdrawal_asked', 'declined', 'data_consent_refused'];

/**
 * No conversation: the channel told neither the phone of a person nor the id of the message that they answer, or the
 * offer never came.
 */
const notKnown = ({ isInReview }: Script): Ends => ({
  ...{ place: 'none', heldBy: 'service', isSigned: false, events: [] },
  // Without a conversation the review of the script does not come.
  status: isInReview === true ? 'in_review' : 'pending_signature',
});

/**
 * As the script says. Where a process died between an opt-out and its words, the conversation ends as closed, and
 * records later what the words meant.
 */
export function wantedEnds(person: PersonSeen, store: Stored): Ends {
  const { applicationId, told, isHidden, script } = person;
  const { ends } = script;
  const isKnown = () => store.inputs.some((input) => input.applicationId === applicationId);
  if ((isHidden || told.length === 0) && !isKnown()) return notKnown(script);
  const acts = (store.evidence.get(applicationId) ?? []).filter(({ kind }) => ACTS.includes(kind));
  const isClosed = store.conversations.some(
    (one) => one.applicationId === applicationId && one.place === 'closed',
  );
  if (!isClosed || acts.length === 0 || !told.some(({ optsOut }) => optsOut)) return ends;
  const events = ends.events.map((event) =>
    event.replace(/^conversation\.ended .*/, 'conversation.ended closed'),
  );
  return { ...ends, place: 'closed', events };
}
