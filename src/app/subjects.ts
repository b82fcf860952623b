/**
 * The subjects of the program, in the order of their commands in the help, of their jobs in the upkeep, and of the
 * search for stored data that depends on a secret. CONTRIBUTING.md says how to add one. The simulator is a channel:
 * `channel.ts`.
 */
import { applications } from '../applications/subject.ts';
import { audit } from '../audit/subject.ts';
import { bulk } from '../bulk/subject.ts';
import { conversation } from '../conversation/subject.ts';
import { desk } from '../desk/subject.ts';
import { documents } from '../documents/subject.ts';
import { endPushes, push } from '../events/push/subject.ts';
import { events } from '../events/subject.ts';
import { income } from '../income/subject.ts';
import { messages } from '../messages/subject.ts';
import { monitoring } from '../monitoring/subject.ts';
import { operators } from '../operators/subject.ts';
import { partners } from '../partners/subject.ts';
import { rights } from '../rights/subject.ts';
import type { Witnesses } from '../seal/witness.ts';
import { signing } from '../signing/subject.ts';
import type { Service, StoredFiles, Subject } from '../subject/subject.ts';
import { vault } from '../vault/subject.ts';

export const SUBJECTS: readonly Subject[] = [
  partners({
    whenClosing: [
      // The events of a closed partner go nowhere any more.
      endPushes,
    ],
  }),
  events,
  // An endpoint is one row a partner: the search for data of a data key comes to the endpoints before the batches.
  push,
  applications,
  messages,
  documents,
  income,
  signing,
  // It adds commands to the groups of documents and contracts.
  conversation,
  rights,
  vault({ witnesses: loadWitnesses }),
  operators,
  desk,
  audit,
  monitoring,
  bulk,
];

/**
 * Loads the searches of all subjects for stored data that depends on a secret, in their order. By these the start finds
 * out whether the configured secrets are those that the data needs.
 */
export async function loadWitnesses(): Promise<Witnesses> {
  const all = await Promise.all(SUBJECTS.map(({ witnesses }) => witnesses?.()));
  return {
    indexKey: all.flatMap((some) => some?.indexKey ?? []),
    apiKeyPepper: all.flatMap((some) => some?.apiKeyPepper ?? []),
    reindexings: all.flatMap((some) => some?.reindexings ?? []),
    dataKeys: all.flatMap((some) => some?.dataKeys ?? []),
  };
}

/** Loads what `serve` and `worker` run of the subjects. */
export async function loadServices(): Promise<Service[]> {
  const services = await Promise.all(SUBJECTS.map(({ service }) => service?.()));
  return services.filter((service) => service !== undefined);
}

/** Loads what the subjects know of files outside of the database. */
export async function loadFiles(): Promise<StoredFiles[]> {
  const all = await Promise.all(SUBJECTS.map(({ files }) => files?.()));
  return all.filter((some) => some !== undefined);
}
