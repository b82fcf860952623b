/** Bugs that are planted into a good history, one for each rule at least: the checker has to see each. */
import type { Rule } from './check.ts';
import type { History, PersonSeen, Stored, StoredEvent, StoredEvidence } from './seen.ts';

export interface Planted {
  readonly rule: Rule;
  readonly bug: string;
  readonly plant: (history: History) => History;
}

/** The one that fits. Throws where none does: then the run is too short. */
function first<T>(some: Iterable<T>, fits: (one: T) => boolean = () => true): T {
  for (const one of some) if (fits(one)) return one;
  throw new Error('the run has nothing that the bug needs');
}

const signer = ({ persons }: History) => first(persons, ({ script: { ends } }) => ends.isSigned);
const withStore = (history: History, changes: Partial<Stored>): History => ({
  ...history,
  store: { ...history.store, ...changes },
});
const withPerson = (history: History, person: PersonSeen, changes: Partial<PersonSeen>): History => ({
  ...history,
  persons: history.persons.map((one) => (one === person ? { ...one, ...changes } : one)),
});

/** Changes the evidence of a person who signed. */
function withEvidence(
  history: History,
  change: (rows: readonly StoredEvidence[]) => readonly StoredEvidence[],
): History {
  const { applicationId } = signer(history);
  const rows = history.store.evidence.get(applicationId)!;
  return withStore(history, {
    evidence: new Map([...history.store.evidence, [applicationId, change(rows)]]),
  });
}

const changedOf = <T>(some: readonly T[], one: T, changes: Partial<T>) =>
  some.map((other) => (other === one ? { ...other, ...changes } : other));
const isOfConversation = ({ type }: StoredEvent) => type === 'conversation.started';

export const PLANTED: readonly Planted[] = [
  {
    rule: 'ends',
    bug: 'a conversation ends elsewhere',
    plant: (history) => {
      const { conversations } = history.store;
      const one = first(conversations, ({ place }) => place === 'signed');
      return withStore(history, { conversations: changedOf(conversations, one, { place: 'code' }) });
    },
  },
  {
    rule: 'ends',
    bug: 'an application has two conversations',
    plant: (history) => {
      const { conversations } = history.store;
      return withStore(history, { conversations: [...conversations, first(conversations)] });
    },
  },
  {
    rule: 'inputs',
    bug: 'a message that was heard is not stored',
    plant: (history) => {
      const { inputs } = history.store;
      // The first message of a person without a phone may be nobody's.
      const hidden = new Set(history.persons.flatMap((one) => (one.isHidden ? one.applicationId : [])));
      const one = first(
        inputs,
        ({ source, applicationId }) => source === 'person' && !hidden.has(applicationId),
      );
      return withStore(history, { inputs: inputs.filter((other) => other !== one) });
    },
  },
  {
    rule: 'inputs',
    bug: 'an input waits for ever',
    plant: (history) => {
      const { inputs } = history.store;
      return withStore(history, { inputs: changedOf(inputs, first(inputs), { turn: null }) });
    },
  },
  {
    rule: 'inputs',
    bug: 'work waits for ever',
    plant: (history) => withStore(history, { waitingWork: 1 }),
  },
  {
    rule: 'replies',
    bug: 'a reply goes out twice',
    plant: (history) => {
      const person = first(history.persons, ({ taken }) => taken.some(({ isFailed }) => !isFailed));
      const one = first(person.taken, ({ isFailed }) => !isFailed);
      return withPerson(history, person, { taken: [...person.taken, one] });
    },
  },
  {
    rule: 'replies',
    bug: 'a turn replies without a cause',
    plant: (history) => {
      const { replies } = history.store;
      const person = signer(history);
      const one = first(replies, ({ applicationId }) => applicationId === person.applicationId);
      return withStore(history, { replies: changedOf(replies, one, { turn: 900 }) });
    },
  },
  {
    rule: 'inbox',
    bug: 'two operators answer one person',
    plant: (history) => {
      const { replies } = history.store;
      const one = first(replies, ({ isAnswer }) => isAnswer);
      return withStore(history, { replies: [...replies, { ...one, id: `${one.id}0`, turn: one.turn + 1 }] });
    },
  },
  {
    rule: 'inbox',
    bug: 'nobody answers one of those who wait',
    plant: (history) => {
      const { replies } = history.store;
      const one = first(replies, ({ isAnswer }) => isAnswer);
      return withStore(history, { replies: replies.filter((other) => other !== one) });
    },
  },
  {
    rule: 'opt_outs',
    bug: 'a reply goes out long after an opt-out',
    plant: (history) => {
      const person = first(history.persons, ({ told }) => told.some(({ optsOut }) => optsOut));
      const out = first(person.told, ({ optsOut }) => optsOut);
      const late = { ...first(signer(history).taken), atMs: (out.heardAtMs ?? 0) + 60_000 };
      return withPerson(history, person, { taken: [...person.taken, late] });
    },
  },
  {
    rule: 'steps',
    bug: 'a consent is recorded twice',
    plant: (history) =>
      withEvidence(history, (rows) => [...rows, first(rows, ({ kind }) => kind === 'data_consent_given')]),
  },
  {
    rule: 'acceptances',
    bug: 'a contract is accepted before the phone shows it',
    plant: (history) => {
      const person = signer(history);
      const told = person.told.map((one) => ({ ...one, shown: one.accepts === null ? one.shown : 1 }));
      return withPerson(history, person, { told });
    },
  },
  {
    rule: 'acceptances',
    bug: 'somebody else accepts',
    plant: (history) => {
      const person = signer(history);
      return withPerson(history, person, {
        told: person.told.map((one) => ({ ...one, id: `${one.id}.other` })),
      });
    },
  },
  {
    rule: 'signatures',
    bug: 'another contract is signed than was shown',
    plant: (history) =>
      withEvidence(history, (rows) =>
        rows.map((row) =>
          row.kind === 'signed' ? { ...row, facts: { ...row.facts, sha256: 'f'.repeat(64) } } : row,
        ),
      ),
  },
  {
    rule: 'signatures',
    bug: 'the person never accepted',
    plant: (history) => {
      const person = signer(history);
      return withPerson(history, person, { told: person.told.map((told) => ({ ...told, accepts: null })) });
    },
  },
  {
    rule: 'signatures',
    bug: 'the text names another hash',
    plant: (history) => {
      const person = signer(history);
      const taken = person.taken.map((one) => ({ ...one, hashInWords: one.hashInWords && '0'.repeat(64) }));
      return withPerson(history, person, { taken });
    },
  },
  {
    rule: 'codes',
    bug: 'a code was right that nobody sent',
    plant: (history) => withPerson(history, signer(history), { codes: [] }),
  },
  {
    rule: 'codes',
    bug: 'two codes signed',
    plant: (history) => {
      const { usedCodes } = history.store;
      return withStore(history, { usedCodes: new Map([...usedCodes, [signer(history).applicationId, 2]]) });
    },
  },
  {
    rule: 'evidence',
    bug: 'a row of the evidence is missing',
    plant: (history) => withEvidence(history, (rows) => rows.filter((_, index) => index !== 1)),
  },
  {
    rule: 'evidence',
    bug: 'a row of the evidence was changed',
    plant: (history) =>
      withEvidence(history, (rows) =>
        rows.map((row, index) => ({ ...row, isChained: index > 0 && row.isChained })),
      ),
  },
  {
    rule: 'events',
    bug: 'an event is lost',
    plant: (history) => {
      const { events } = history.store;
      return withStore(history, {
        events: events.filter((event) => event !== first(events, isOfConversation)),
      });
    },
  },
  {
    rule: 'events',
    bug: 'the feed tells an event twice',
    plant: (history) => ({ ...history, feed: [...history.feed, first(history.feed, isOfConversation)] }),
  },
];
