/** What happened to one applicant, in the words of a run's report. */
import type { History } from './seen.ts';

/** What the person sent, and what the service says of the conversation. */
export function storyOf({ persons, store }: History, applicationId: number): string {
  const person = persons.find((one) => one.applicationId === applicationId);
  if (person === undefined) return 'nobody';
  const { script, isHidden, told, codes, taken } = person;
  const why = store.conversations.flatMap((one) =>
    one.applicationId === applicationId && one.handedOver !== null ? [one.handedOver] : [],
  );
  const sent = told.map(({ atMs, what, isLost, heardAtMs }) =>
    [`${Math.round(atMs)} ${what}`, isLost ? 'lost' : `heard ${Math.round(heardAtMs ?? -1)}`].join(' '),
  );
  return [
    `"${script.name}"${isHidden ? ', without a phone' : ''}`,
    ...why.map((reason) => `handed over: ${reason}`),
    `${codes.length} codes, ${taken.length} replies`,
    `sent: ${sent.join(', ')}`,
  ].join('; ');
}
