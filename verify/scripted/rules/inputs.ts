/** What a person sends is stored once if the channel got its answer, and taken by one turn. Nothing waits. */
import type { Found, History, PersonSeen, StoredInput } from '../seen.ts';

export function checkInputs({ persons, store, indexOf }: History): Found[] {
  const inputs = Map.groupBy(store.inputs, ({ applicationId }) => applicationId);
  const found = persons.flatMap((person) =>
    ofPerson(
      person,
      inputs.get(person.applicationId) ?? [],
      indexOf,
      store.applications.get(person.applicationId)?.status === 'rejected',
    ),
  );
  if (store.waitingWork > 0)
    found.push({ applicationId: null, text: `${store.waitingWork} pieces of work wait for ever` });
  return found;
}

function ofPerson(
  { applicationId, told, isHidden, script }: PersonSeen,
  inputs: readonly StoredInput[],
  indexOf: (id: string) => string,
  isRejected: boolean,
): Found[] {
  const found: Found[] = [];
  const note = (text: string) => void found.push({ applicationId, text });
  const stored = Map.groupBy(
    inputs.filter(({ source }) => source === 'person'),
    ({ message }) => message,
  );
  const known = new Set<string | null>();
  let isStranger = true;
  for (const { id, what, isLost, heardAtMs } of told) {
    const index = indexOf(id);
    known.add(index);
    const count = stored.get(index)?.length ?? 0;
    // Before the tap that begins the conversation nobody knows what a person writes about. Of a person without a phone
    // the tap tells only its message, whose id the service may not know yet.
    isStranger &&= count === 0;
    const isNobodys = isStranger && (isHidden || what !== 'interested');
    // What somebody writes after a review has refused them is answered beside the conversation, and not stored there.
    const isOfRefused = isRejected && script.isInReview === true && what === 'a text' && count === 0;
    if (heardAtMs !== null && count !== 1 && !isNobodys && !isOfRefused)
      note(`"${what}" was heard, and is stored ${count} times`);
    if (isLost && count > 0) note(`"${what}" never reached the service, and is stored`);
  }
  for (const index of stored.keys()) if (!known.has(index)) note('an input is of no message of this person');
  for (const { turn, source, fault } of inputs) {
    if (turn === null) note(`an input of ${source} waits for ever`);
    if (fault !== null) note(`an input of ${source} was left aside: ${fault}`);
  }
  return found;
}
