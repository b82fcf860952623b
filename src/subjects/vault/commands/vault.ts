/**
 * `ventanilla vault`: shows the data keys, reseals, retires a key, and reindexes (docs/keys.md). Each act is recorded.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import {
  type Column,
  shortTime,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import type { Reindexing } from '../../../seal/reindex.ts';
import type { SealedKind } from '../../../seal/witness.ts';
import { awaitReseal, type KeyStatus, type Reseal, reseal, retire, vaultStatus } from '../uses/operate.ts';
import { type Reindexed, reindex } from '../uses/reindex.ts';

interface Options {
  readonly json?: boolean;
}

/**
 * Adds the commands. `kinds`: everything that data keys seal. `reindexings`: how each kind of blind index is made
 * again.
 */
export function addVaultCommands(
  group: Command,
  cli: Cli,
  kinds: readonly SealedKind[],
  reindexings: readonly Reindexing[],
): void {
  addStatus(group, cli);
  addReseal(group, cli, kinds);
  addRetire(group, cli, kinds);
  addReindex(group, cli, reindexings);
}

function addStatus(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'status', 'list the data keys, and how far a reseal is', 'vault status')
    .addHelpText(
      'after',
      '\nSEALS: how many values were sealed with the key, of the 4,294,967,296 that one key is good for.',
    )
    .action(({ json }: Options) =>
      roles.operate(async (context) => {
        const status = await vaultStatus(context);
        if (json)
          return writeJson(io, {
            keys: named(status.keys, KEY),
            reseal: status.reseal && resealJson(status.reseal),
          });
        await writeList(
          io,
          status.keys,
          {},
          { columns: COLUMNS, json: (key) => named(key, KEY), none: 'No service has run yet.' },
        );
        if (status.reseal !== null) await writeOutput(io, `\n${resealText(status.reseal)}\n`);
      }),
    );
}

function addReseal(group: Command, { roles, io }: Cli, kinds: readonly SealedKind[]): void {
  addCommand(
    group,
    'reseal',
    'let the running services seal everything again with the first data key',
    'vault reseal --wait',
  )
    .option('--wait', 'return when the reseal is over')
    .action(({ json, wait = false }: Options & { wait?: boolean }) =>
      roles.operate(async (context) => {
        const { keyId, isNew, hasService } = await acting(
          context,
          (part) => reseal(part, kinds),
          (done) => ({ act: 'vault reseal', target: `data key ${done.keyId}` }),
        );
        if (!wait) {
          if (!hasService) writeNote(io, NO_SERVICE);
          if (json) return writeJson(io, { key: keyId, started: isNew });
          const what = isNew
            ? 'The services seal everything again'
            : 'The services are already at it: they seal everything';
          return writeOutput(io, `${what} with data key ${keyId}. vault status tells how far they are.\n`);
        }
        const done = await awaitReseal(context, kinds);
        if (json) return writeJson(io, resealJson(done));
        await writeOutput(io, `${resealText(done)}\n`);
      }),
    );
}

const NO_SERVICE =
  'No running service seals with that key yet: the reseal begins when one does, or with --wait.\n';

function addRetire(group: Command, { roles, io }: Cli, kinds: readonly SealedKind[]): void {
  addCommand(group, 'retire', 'forget a data key that nothing needs any more', 'vault retire 1')
    .argument('<key-id>', 'the number of the key in DATA_KEYS', readKeyId)
    .addHelpText(
      'after',
      '\nRefused while a row needs the key, with the number of such rows. Reads every batch of the store.',
    )
    .action((id: number, { json }: Options) =>
      roles.operate(async (context) => {
        await noting(context, { act: 'vault retire', target: `data key ${id}` });
        const { isNew, damaged } = await retire(context, kinds, id);
        if (json) return writeJson(io, { key: id, retired: true, damaged });
        const what = isNew
          ? `No row needs data key ${id}: it is retired.`
          : `Data key ${id} was retired before.`;
        const note =
          damaged > 0
            ? ` The key does not open ${counted(damaged, 'row that names it and is', 'rows that name it and are')} damaged.`
            : '';
        await writeOutput(
          io,
          `${what}${note} Leave it out of DATA_KEYS from the next start on, and keep a copy for as long as you keep backups from before.\n`,
        );
      }),
    );
}

function addReindex(group: Command, { roles, io }: Cli, reindexings: readonly Reindexing[]): void {
  addCommand(
    group,
    'reindex',
    'make all blind indexes again: with a new INDEX_KEY, or after an update that asks for it; no service may run',
    'vault reindex',
  ).action(({ json }: Options) =>
    roles.operate(async (context) => {
      const done = await reindex(context, reindexings);
      if (json) return writeJson(io, done ?? { written: 0, unopened: 0 });
      await writeOutput(io, done === null ? NOT_DUE : reindexedText(done));
    }, 'unchecked'),
  );
}

const NOT_DUE =
  'Nothing to do: the newest key of INDEX_KEY has made the stored indexes, as this version makes them.\n';

function reindexedText({ written, unopened }: Reindexed): string {
  const left =
    unopened === 0
      ? ''
      : `${counted(unopened, 'application does not open and keeps its index', 'applications do not open and keep their indexes')}: a search finds them by the phone alone. `;
  return `Made ${written} blind indexes again. ${left}Start the services with the same INDEX_KEY.\n`;
}

function readKeyId(text: string): number {
  const id = Number(text);
  if (!/^\d{1,3}$/.test(text) || id < 1 || id > 255) {
    throw new InvalidArgumentError('It must be the number of a data key, from 1 to 255.');
  }
  return id;
}

const COLUMNS: readonly Column<KeyStatus>[] = [
  { title: 'KEY', value: ({ id }) => id },
  { title: 'STATE', value: stateOf },
  { title: 'SEALS', value: ({ seals, share }) => `${seals} (${(100 * share).toFixed(1)} %)` },
];

function stateOf({ sealsNow, retiredAt }: KeyStatus): string {
  if (retiredAt !== null) return `retired ${shortTime(retiredAt)}`;
  return sealsNow ? 'seals' : 'opens';
}

function resealText({ keyId, kind, resealed, unopened, finishedAt }: Reseal): string {
  const left =
    unopened > 0
      ? ` ${counted(unopened, 'does not open and was left as it is', 'do not open and were left as they are')}.`
      : '';
  return finishedAt === null
    ? `A reseal with data key ${keyId} is under way, at the ${kind}: ${counted(resealed, 'value')} so far.${left}`
    : `The last reseal, with data key ${keyId}, sealed ${counted(resealed, 'value')} again.${left}`;
}

const KEY = 'id seals_now seals share retired_at';

function resealJson(reseal: Reseal) {
  return named({ ...reseal, key: reseal.keyId }, 'key resealed unopened started_at finished_at');
}
