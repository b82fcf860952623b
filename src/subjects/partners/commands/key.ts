/**
 * The commands `ventanilla key`, also `key refusals` (contract, "Authentication"; docs/operations.md, "Commands";
 * docs/refusals.md). `uses/keys.ts` does the work.
 */
import { type Command, Option } from 'commander';
import {
  ENVIRONMENTS,
  type Environment,
  type KeyId,
  type PartnerId,
} from '../../../domain/partner/credential.ts';
import { LANGUAGE_SETTINGS, type LanguageSetting } from '../../../ground/base/language.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, asArgument, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import { readKeyId, readPartnerId } from '../../../program/cli/id-arguments.ts';
import {
  type Io,
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  type ApiKey,
  type IssuedKey,
  issueKey,
  listKeys,
  listRefusals,
  readDailyCap,
  readOverlap,
  revokeKey,
  rotateKey,
  setDailyCap,
} from '../uses/keys.ts';
import { addBrandCommands, readBrandFile } from './brand.ts';

// `ventanilla key refusals`.

const HELP = `
Each row is a key and an hour (UTC) of the last 30 days in which /PRO refused something. 401 counts requests after the
key's end or to the wrong environment. REMEMBERED counts batches under an Idempotency-Key that registered nothing.
FORGOTTEN counts those of them whose answers were forgotten before 24 hours, because the key has newer ones. SWEEP is
the time from which the hour looks like a sweep: many phones tried, to learn which ones have an open application.
docs/refusals.md says what to do then.`;

const REFUSALS = [
  'hour key_id hint',
  { partner: 'id name' },
  'registered duplicate over_quota invalid unauthorized remembered forgotten sweep_at',
] as const;

function addRefusalsCommand(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'refusals',
    'show what was refused under each key, by hour, newest first',
    'key refusals --key 3',
  )
    .option('--key <id>', 'only rows of this key', readKeyId)
    .option('--partner <id>', "only rows of this partner's keys", readPartnerId)
    .addOption(limitOption())
    .addHelpText('after', HELP)
    .action((options: ListOptions & { key?: KeyId; partner?: PartnerId }) =>
      roles.operate(async (context) => {
        const refusals = await listRefusals(context, { keyId: options.key, partnerId: options.partner });
        await writeList(io, refusals, options, {
          columns: [
            { title: 'HOUR', value: ({ hour }) => shortTime(hour) },
            { title: 'KEY ID', value: ({ keyId }) => keyId },
            { title: 'PARTNER', value: ({ partner }) => `${partner.id} ${partner.name}` },
            { title: 'REGISTERED', value: ({ registered }) => registered },
            { title: 'DUPLICATE', value: ({ duplicate }) => duplicate },
            { title: 'OVER QUOTA', value: (one) => one.over_quota },
            { title: 'INVALID', value: ({ invalid }) => invalid },
            { title: '401', value: ({ unauthorized }) => unauthorized },
            { title: 'REMEMBERED', value: ({ remembered }) => remembered },
            { title: 'FORGOTTEN', value: ({ forgotten }) => forgotten },
            { title: 'SWEEP', value: ({ sweepAt }) => shortTime(sweepAt) },
          ],
          json: (one) => named({ ...one, overQuota: one.over_quota }, REFUSALS),
          none: 'Nothing was refused in the last 30 days.',
        });
      }),
    );
}

interface IssueOptions {
  partner: PartnerId;
  dailyCap?: number;
  environment?: Environment;
  language?: LanguageSetting;
  brand?: string;
  json?: boolean;
}

export function addKeyCommands(group: Command, cli: Cli): void {
  addIssue(group, cli);
  addList(group, cli);
  addRefusalsCommand(group, cli);
  addRevoke(group, cli);
  addRotate(group, cli);
  addSet(group, cli);
  addBrandCommands(group, cli);
}

function addIssue(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'issue', 'issue a key; it is shown once', 'key issue --partner 1 --daily-cap 5000')
    .requiredOption('--partner <id>', 'the partner that gets the key', readPartnerId)
    .option('--daily-cap <n>', 'applications in any 24 hours (default: no cap)', asArgument(readDailyCap))
    .addOption(
      choiceOption('--environment <name>', 'the only environment of the key, default both', ENVIRONMENTS),
    )
    .addOption(
      choiceOption('--language <code>', 'the language of the answers, default auto', LANGUAGE_SETTINGS),
    )
    .option('--brand <file>', "JSON file with what the key's messages say (docs/brand.md)")
    .action(async (options: IssueOptions) => {
      const brand = options.brand === undefined ? {} : await readBrandFile(options.brand);
      await roles.operate(async (context) => {
        const settings = {
          environment: options.environment ?? null,
          language: options.language ?? 'auto',
          dailyCap: options.dailyCap ?? null,
          brand,
        };
        const issued = await acting(
          context,
          (part) => issueKey(part, options.partner, settings),
          ({ key }) => ({ act: 'key issue', target: `key ${key.id}` }),
        );
        if (options.json) return writeJson(io, issuedJson(issued));
        await writeIssued(io, issued);
      });
    });
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the keys, newest first', 'key list --partner 1')
    .option('--partner <id>', 'only the keys of this partner', readPartnerId)
    .addOption(limitOption())
    .action((options: ListOptions & { partner?: PartnerId }) =>
      roles.operate(async (context) =>
        writeList(io, await listKeys(context, options.partner), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'KEY', value: ({ hint }) => `${hint}...` },
            { title: 'PARTNER', value: ({ partner }) => `${partner.id} ${partner.name}` },
            { title: 'FOR', value: ({ environment }) => environment ?? 'PRO, DEV' },
            { title: 'LANGUAGE', value: ({ language }) => language },
            { title: 'DAILY CAP', value: ({ dailyCap }) => dailyCap ?? 'none' },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'ENDS', value: ({ expiresAt, revokedAt }) => shortTime(revokedAt ?? expiresAt) },
            { title: 'ISSUED', value: ({ createdAt }) => shortTime(createdAt) },
          ],
          json: (key) => named(key, KEY),
          none: 'No keys yet. Issue one: npx ventanilla key issue --partner ID',
        }),
      ),
    );
}

function addRevoke(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'revoke', 'end a key: its next request is refused', 'key revoke 3')
    .argument('<id>', 'the key', readKeyId)
    .action((id: KeyId, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const key = await acting(
          context,
          (part) => revokeKey(part, id),
          () => ({ act: 'key revoke', target: `key ${id}` }),
        );
        if (json) return writeJson(io, named(key, KEY));
        await writeOutput(io, `Key ${id} of ${key.partner.name} is revoked.\n`);
      }),
    );
}

function addRotate(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'rotate', 'issue the successor of a key; it is shown once', 'key rotate 3 --overlap 7d')
    .argument('<id>', 'the key', readKeyId)
    .addOption(
      new Option('--overlap <time>', 'how long the old key still works: 30m, 24h, 7d ... at most 30d, or 0')
        .argParser(asArgument(readOverlap))
        .default(readOverlap('24h'), '24h'),
    )
    .action((id: KeyId, { overlap, json }: { overlap: number; json?: boolean }) =>
      roles.operate(async (context) => {
        const { replaced, ...issued } = await acting(
          context,
          (part) => rotateKey(part, id, overlap),
          () => ({ act: 'key rotate', target: `key ${id}` }),
        );
        if (json) {
          const replaces = named(replaced, 'id expires_at');
          return writeJson(io, { ...issuedJson(issued), replaces });
        }
        await writeIssued(io, issued);
        const end = overlap === 0 ? 'no longer works' : `works until ${shortTime(replaced.expiresAt)}`;
        await writeOutput(io, `The old key ${id} ${end}.\n`);
      }),
    );
}

function addSet(group: Command, { roles, io }: Cli): void {
  // The cap is in an object, because commander takes null for an absent value.
  const readCap = (text: string) => ({ value: text === 'none' ? null : readDailyCap(text) });
  addCommand(group, 'set', 'change the daily cap of a key', 'key set 3 --daily-cap 5000')
    .argument('<id>', 'the key', readKeyId)
    .requiredOption('--daily-cap <n>', 'applications in any 24 hours, or none', asArgument(readCap))
    .action((id: KeyId, { dailyCap, json }: { dailyCap: { value: number | null }; json?: boolean }) =>
      roles.operate(async (context) => {
        const key = await acting(
          context,
          (part) => setDailyCap(part, id, dailyCap.value),
          () => ({ act: 'key set', target: `key ${id}` }),
        );
        if (json) return writeJson(io, named(key, KEY));
        await writeOutput(io, `Key ${id} of ${key.partner.name} now has ${capText(key)}.\n`);
      }),
    );
}

async function writeIssued(io: Io, { apiKey, key }: IssuedKey): Promise<void> {
  const scope = key.environment ?? 'PRO and DEV';
  await writeOutput(
    io,
    `Key ${key.id} for ${key.partner.name}, ${scope}, ${capText(key)}:\n\n  ${apiKey}\n\n`,
  );
  await writeOutput(io, 'The key is shown only now: the service keeps no copy. Pass it on safely.\n');
}

function capText({ dailyCap }: ApiKey): string {
  return dailyCap === null ? 'no daily cap' : `a daily cap of ${dailyCap}`;
}

function issuedJson({ apiKey, key }: IssuedKey) {
  return named({ ...key, apiKey }, ['id api_key', ...KEY]);
}

const KEY = [
  'id hint',
  { partner: 'id name' },
  'environment language daily_cap',
  { brand: '*' },
  'status created_at expires_at revoked_at',
] as const;
