/**
 * Nothing is stored that was refused, that nobody sent, or that is only a part of a batch without an answer. Only
 * what is invalid is told as invalid.
 */
import type { Batch, Found, History, StoredApplication } from '../history.ts';
import { answered, type Lookup } from '../lookup.ts';

export function checkRefused(history: History, lookup: Lookup): Found[] {
  const unnoted = new Set(history.partners.filter(({ isNoted }) => !isNoted).map(({ id }) => id));
  const strays = history.store.applications.filter(
    (application) => lookup.sent(application) === undefined && !unnoted.has(application.partnerId),
  );
  return [
    ...history.batches.flatMap((batch) =>
      textsOf(batch, lookup).map((text) => ({ partnerId: batch.partnerId, text })),
    ),
    ...history.store.applications.flatMap((application) => textsOfOthers(application, lookup)),
    ...strays.map(({ id, partnerId }) => ({ partnerId, text: `${id} is stored, and no client sent it` })),
  ];
}

/** Also where no answer came, a stored application is the one that was sent. */
function textsOfOthers(application: StoredApplication, lookup: Lookup): Found[] {
  const sent = lookup.sent(application);
  if (sent === undefined) return [];
  const { partnerId, applications } = sent.batch;
  const expected = { partnerId, ...applications[sent.position]! };
  const names = (Object.keys(expected) as (keyof typeof expected)[]).filter(
    (name) => expected[name] !== application[name],
  );
  if (names.length === 0) return [];
  return [{ partnerId, text: `${application.id} is stored with another ${names.join(', ')} than was sent` }];
}

function textsOf(batch: Batch, lookup: Lookup): string[] {
  const stored = batch.applications.filter(({ idNumber }) => lookup.storedAs(idNumber).length > 0);
  const answers = answered(batch);
  if (answers.length > 0) return [...refusedButStored(batch, lookup), ...wronglyInvalid(batch)];
  const isUnknown = batch.calls.some(({ answer }) => answer === null);
  const { length } = batch.applications;
  if (!isUnknown && stored.length > 0) {
    const statuses = batch.calls.map(({ answer }) => answer?.status);
    return [`a batch was refused (${statuses}), and ${stored.length} of its ${length} are stored`];
  }
  if (batch.isAllNew && stored.length > 0 && stored.length < length) {
    return [`of a batch without an answer ${stored.length} of ${length} are stored`];
  }
  return [];
}

/** What is invalid is told so in any case, and nothing else is (D16). */
function wronglyInvalid(batch: Batch): string[] {
  return batch.applications.flatMap(({ idNumber, decision }, position) =>
    answered(batch)
      .map(({ answer }) => answer.outcomes?.[position]?.kind)
      .filter((kind) => (kind === 'invalid') !== (decision === null))
      .map((kind) => `the application of ${idNumber} is ${decision ?? 'invalid'}, and was told as ${kind}`),
  );
}

/** Of a position that was registered by one answer and refused by another, the replays tell. */
function refusedButStored(batch: Batch, lookup: Lookup): string[] {
  return batch.applications.flatMap(({ idNumber }, position) => {
    const kinds = new Set(answered(batch).map(({ answer }) => answer.outcomes?.[position]?.kind));
    if (kinds.has('registered') || lookup.storedAs(idNumber).length === 0) return [];
    return [`the application of ${idNumber} was refused (${[...kinds]}), and it is stored`];
  });
}
