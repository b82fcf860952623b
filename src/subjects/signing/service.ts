/**
 * What `serve` and `worker` run for contracts: the upkeep jobs that expire, finish and delete contracts, and that read
 * changed terms and certificates again (docs/signing.md).
 */
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { openFinishing, signingFiles } from './open.ts';
import { CONTRACT_YEARS, SIGNING_CERTIFICATE_FILE, TERMS_FILE } from './settings.ts';
import { clearBlocks } from './sql/blocks.ts';
import { expireContracts, unfinished, unscheduled } from './sql/contracts.ts';
import { deleteDropped, droppedContracts, forgetContracts } from './sql/dropped.ts';
import { finalSchedule } from './uses/final-schedule.ts';
import { type FinishContext, finishContract } from './uses/finish-contract.ts';

export const SIGNING_SERVICE: Service = {
  upkeep: [
    // The name is known to `status` (src/subjects/monitoring/rules/troubles.ts).
    { name: 'read the terms again', run: readAgain },
    { name: 'expire contracts', run: ({ database }) => expireContracts(database, null) },
    { name: 'finish contracts', run: finishSigned },
    { name: 'make final schedules', run: makeSchedules },
    { name: 'delete contracts', run: deleteContracts },
    { name: 'clear blocked contracts', seldom: true, run: ({ database }) => clearBlocks(database) },
    { name: 'forget contracts', seldom: true, run: forgetOld },
  ],
};

/**
 * Reads the terms and the certificate again if their files changed. Both are tried. A file that is refused changes
 * nothing, and the job fails until the file is mended.
 */
async function readAgain({ database, clock, log, setting }: ServiceContext): Promise<void> {
  const certificate = setting(SIGNING_CERTIFICATE_FILE);
  const hasFiles = typeof setting(TERMS_FILE) === 'object' || (certificate !== null && 'path' in certificate);
  if (!hasFiles) return;
  const { terms, sealer } = await signingFiles({ database, clock }, setting);
  const parts = { 'the terms': terms, 'the certificate': sealer };
  const ends = await Promise.allSettled(
    Object.entries(parts).map(async ([what, files]) => {
      if (await files.refresh()) log.info({ what }, 'read again: contracts are made with it from now on');
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** One context for a process. The certificate and the store are opened once, when a job first needs them. */
const opened = new WeakMap<ServiceContext['database'], Promise<FinishContext>>();

function finishing({ database, vault, clock, setting }: ServiceContext): Promise<FinishContext> {
  let context = opened.get(database);
  if (context === undefined) {
    context = openFinishing(setting, { database, vault, clock });
    opened.set(database, context);
    // A file that is mended is read again.
    context.catch(() => opened.delete(database));
  }
  return context;
}

/** Makes the final PDFs that are missing. If one fails, the others are still made. */
async function finishSigned(context: ServiceContext): Promise<void> {
  const ids = await unfinished(context.database);
  if (ids.length === 0) return;
  const finish = await finishing(context);
  for (const id of ids) {
    await finishContract(finish, id).catch((error: unknown) =>
      context.failed(`the signed contract of application ${id}`, error),
    );
  }
}

/** Makes the final schedules that are missing. If one fails, the others are still made. */
async function makeSchedules(context: ServiceContext): Promise<void> {
  const ids = await unscheduled(context.database);
  if (ids.length === 0) return;
  const finish = await finishing(context);
  for (const id of ids) {
    await finalSchedule(finish, id).catch((error: unknown) =>
      context.failed(`the final schedule of application ${id}`, error),
    );
  }
}

/** Deletes the PDFs of dropped contracts, and then their rows. */
async function deleteContracts(context: ServiceContext): Promise<void> {
  const dropped = await droppedContracts(context.database);
  if (dropped.length === 0) return;
  const { store } = await finishing(context);
  for (const { id, keys } of dropped) {
    for (const key of keys) await store.delete(key);
    await deleteDropped(context.database, id);
  }
}

async function forgetOld({ database, log, setting }: ServiceContext): Promise<void> {
  const contracts = await forgetContracts(database, setting(CONTRACT_YEARS));
  if (contracts > 0) log.info({ contracts }, 'let go of old contracts');
}
