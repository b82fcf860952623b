/**
 * The list of the program's subjects, in the order of their commands in the help, of their jobs in the upkeep, and of
 * the search for stored data that depends on a secret. CONTRIBUTING.md says how to add one. The simulator is a channel:
 * `channel.ts`.
 */

import type {
  ConsoleContext,
  PortalContext,
  Service,
  StoredFiles,
  Subject,
  UpkeepJob,
} from '../program/subject/subject.ts';
import type { Witnesses } from '../seal/witness.ts';
import { applications } from '../subjects/applications/subject.ts';
import { audit } from '../subjects/audit/subject.ts';
import { business } from '../subjects/business/subject.ts';
import { conversation } from '../subjects/conversation/subject.ts';
import { desk } from '../subjects/desk/subject.ts';
import { documents } from '../subjects/documents/subject.ts';
import { evaluation } from '../subjects/evaluation/subject.ts';
import { endPushes, push } from '../subjects/events/push/subject.ts';
import { events } from '../subjects/events/subject.ts';
import { income } from '../subjects/income/subject.ts';
import { messages, pausedAmong } from '../subjects/messages/subject.ts';
import { monitoring } from '../subjects/monitoring/subject.ts';
import { endAccounts, operators } from '../subjects/operators/subject.ts';
import { partners } from '../subjects/partners/subject.ts';
import { policies } from '../subjects/policies/subject.ts';
import { reconsiderations } from '../subjects/reconsiderations/subject.ts';
import { rights } from '../subjects/rights/subject.ts';
import { realFactors, signing } from '../subjects/signing/subject.ts';
import { vault } from '../subjects/vault/subject.ts';
import type { Route } from '../wire/operator/route.ts';

export const SUBJECTS: readonly Subject[] = [
  partners({
    whenClosing: [
      // The events of a closed partner are pushed to nobody any more.
      endPushes,
      // Nobody signs in for it any more.
      endAccounts,
    ],
    pausedAmong,
  }),
  events,
  // A partner has one endpoint at most, so the search for data of a data key looks at the few endpoints before the
  // batches.
  push,
  policies({ realFactors }),
  applications,
  // It adds commands to the group of the policies.
  evaluation,
  // It follows the decisions as the evaluation does, and reads what became of them.
  business,
  messages,
  documents,
  income,
  signing,
  // It hears persons before the conversations do: what it answers is not theirs.
  reconsiderations,
  // It adds commands to the groups of documents and contracts.
  conversation,
  rights,
  vault({ witnesses: loadWitnesses }),
  operators,
  desk,
  audit,
  monitoring,
];

/**
 * Loads the searches of all subjects for stored data that depends on a secret, in their order. With these the start
 * finds out whether the configured secrets are those that the data needs.
 */
export async function loadWitnesses(): Promise<Witnesses> {
  const { witnessesOf } = await import('./table-engines.ts');
  const all = await Promise.all(
    SUBJECTS.map(async ({ witnesses, tables }) => {
      const [own, declared] = await Promise.all([witnesses?.(), tables?.()]);
      return { own, declared: witnessesOf(declared ?? []) };
    }),
  );
  return {
    indexKey: all.flatMap(({ own }) => own?.indexKey ?? []),
    apiKeyPepper: all.flatMap(({ own }) => own?.apiKeyPepper ?? []),
    reindexings: all.flatMap(({ own, declared }) => [...(own?.reindexings ?? []), ...declared.reindexings]),
    dataKeys: all.flatMap(({ own, declared }) => [...(own?.dataKeys ?? []), ...declared.dataKeys]),
  };
}

/** Loads the jobs of the upkeep of all tables. */
export async function loadTableJobs(): Promise<UpkeepJob[]> {
  const { jobsOf } = await import('./table-engines.ts');
  const all = await Promise.all(SUBJECTS.map(({ tables }) => tables?.()));
  return jobsOf(all.flatMap((tables) => tables ?? []));
}

/** Loads what `serve` and `worker` run of the subjects. */
export async function loadServices(): Promise<Service[]> {
  const services = await Promise.all(SUBJECTS.map(({ service }) => service?.()));
  return services.filter((service) => service !== undefined);
}

/** Loads the routes of the operator API that the subjects bring along. */
export async function loadConsoleRoutes(context: ConsoleContext): Promise<Route[]> {
  const all = await Promise.all(SUBJECTS.map(({ consoleRoutes }) => consoleRoutes?.()));
  return all.flatMap((routesOf) => routesOf?.(context) ?? []);
}

/** Loads the routes of the portal that the subjects bring along. */
export async function loadPortalRoutes(context: PortalContext): Promise<Route[]> {
  const all = await Promise.all(SUBJECTS.map(({ portalRoutes }) => portalRoutes?.()));
  return all.flatMap((routesOf) => routesOf?.(context) ?? []);
}

/** Loads what the subjects know about files outside of the database. */
export async function loadFiles(): Promise<StoredFiles[]> {
  const all = await Promise.all(SUBJECTS.map(({ files }) => files?.()));
  return all.filter((some) => some !== undefined);
}
