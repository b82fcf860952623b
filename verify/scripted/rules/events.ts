/** The events of a partner have no gap in their numbers. Those of an application are those of its script, once each. */
import type { Found, History, StoredEvent } from '../seen.ts';
import { wantedEnds } from '../wanted-ends.ts';

export function checkEvents({ persons, store, feed }: History): Found[] {
  const found: Found[] = [];
  for (const [partnerId, some] of Map.groupBy(store.events, (event) => event.partnerId)) {
    const gap = some.findIndex(({ number }, index) => number !== index + 1);
    if (gap !== -1)
      found.push({ applicationId: null, text: `partner ${partnerId}: event ${gap + 1} is missing` });
  }
  const [stored, told] = [byApplication(store.events), byApplication(feed)];
  for (const person of persons) {
    const { applicationId, script } = person;
    const wanted = wantedEnds(person, store).events.join(', ');
    for (const [where, events] of [
      ['store', stored],
      ['feed', told],
    ] as const) {
      const is = (events.get(applicationId) ?? []).map(({ type }) => type).join(', ');
      if (is !== wanted)
        found.push({ applicationId, text: `"${script.name}": the ${where} has [${is}], not [${wanted}]` });
    }
  }
  return found;
}

/** The events of conversations alone. */
function byApplication(events: readonly StoredEvent[]): Map<number, StoredEvent[]> {
  return Map.groupBy(
    events.filter(({ type }) => /^(conversation|documents|income|contract)\./.test(type)),
    ({ applicationId }) => applicationId,
  );
}
