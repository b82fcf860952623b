/**
 * The commands `ventanilla backup`: create, verify, restore (docs/backup.md). `app/backup/commands.ts` does the work.
 */
import type { Command } from 'commander';
import { withOffset } from '../../../ground/base/clock.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, readTime } from '../../../program/cli/command.ts';
import { type Io, recordOf, writeJson, writeNote, writeOutput } from '../../../program/cli/output.ts';
import type { Created } from '../create.ts';
import { BackupError } from '../errors.ts';
import type { Restored } from '../restore.ts';
import type { Verified } from '../verify.ts';

/** What the commands do. Without a place they use that of BACKUP_TO. */
export interface BackupActs {
  /** Also copies the files of documents and contracts that the place lacks. */
  create(to: string | undefined): Promise<Created & FileCount>;
  /**
   * Also reads all erasures of the place, and the files of documents and contracts. Throws `BackupError` if one of
   * these is missing or damaged.
   */
  verify(
    from: string | undefined,
    at: Date | undefined,
  ): Promise<Verified & FileCount & { readonly erasures: number }>;
  /** Erases again what was erased after the moment of the backup, unless `withoutErasures`. */
  restore(
    options: RestoreChoice,
  ): Promise<Restored & FileCount & { readonly erased: ErasedAgain; readonly ended: EndedAgain }>;
}

/** Files of documents and contracts that were copied, read or put back. */
interface FileCount {
  readonly files: number;
}

interface RestoreChoice {
  readonly from?: string | undefined;
  readonly at?: Date | undefined;
  readonly withoutErasures: boolean;
}

/** The erasures of the place, and the applications that the restore had brought back. */
interface ErasedAgain {
  readonly erasures: number;
  readonly applications: number;
  /** What else the operator has to do; null: nothing. */
  readonly note: string | null;
}

/** What the restore has ended: all sign-ins of operators, and again what a later state of the place has ended. */
interface EndedAgain {
  readonly sessions: number;
  readonly links: number;
  /** Ids of API keys. */
  readonly keys: readonly number[];
  readonly suppressions: number;
  readonly losses: readonly { readonly id: number; readonly what: string }[];
  /** The moment of the later state; null: the place has none. */
  readonly until: Date | null;
}

interface FromOptions {
  readonly from?: string;
  readonly at?: Date;
  readonly json?: boolean;
}

const FROM = 'the folder of the backups, or s3://bucket/prefix (default: BACKUP_TO)';
const AT = 'the moment to restore, as 2026-11-20T09:30:00Z (default: the newest)';

export function addBackupCommands(group: Command, io: Io, load: () => Promise<BackupActs>): void {
  addCommand(group, 'create', 'back up the embedded store, while it runs', 'backup create --to /mnt/backups')
    .option('--to <place>', 'the folder of the backups, or s3://bucket/prefix (default: BACKUP_TO)')
    .action(async ({ to, json }: { to?: string; json?: boolean }) => {
      const { name, bytes, at, files } = await (await load()).create(to);
      if (json) return writeJson(io, { backup: name, bytes, at: withOffset(new Date(at)), files });
      await writeOutput(io, `Made backup ${name} of ${mib(bytes)}: it restores the store of ${at}.\n`);
      await writeOutput(
        io,
        `Copied ${counted(files, 'file')} of documents and contracts that the place lacked.\n`,
      );
    });
  addCommand(group, 'verify', 'restore a backup into a scratch folder and check it', 'backup verify')
    .option('--from <place>', FROM)
    .option('--at <time>', AT, readTime)
    .action(async ({ from, at, json }: FromOptions) => {
      const verified = await (await load()).verify(from, at);
      const broken = verified.findings.filter((finding) => finding.broken > 0);
      if (json) {
        const { name: backup, findings: checks } = verified;
        const told = { ...verified, backup, ok: broken.length === 0, checks };
        await writeJson(
          io,
          named(told, ['backup at bytes ok erasures files', { checks: 'name rule broken' }]),
        );
      } else {
        const checks = verified.findings.map(({ rule, broken: count }) => [
          count === 0 ? 'holds' : `BROKEN ${counted(count, 'time')}`,
          rule,
        ]);
        await writeOutput(io, `${recordOf(checks as [string, string][])}\n`);
      }
      if (broken.length > 0) {
        throw new BackupError(
          `backup ${verified.name} restores, but ${counted(broken.length, 'rule is', 'rules are')} broken: use another one`,
        );
      }
      if (json) return;
      await writeOutput(io, `Backup ${verified.name} restores: the store of ${shown(verified.at)}.\n`);
      await writeOutput(io, `${counted(verified.erasures, 'erasure')} in the place can be read.\n`);
      await writeOutput(io, `${counted(verified.files, 'file')} of documents and contracts can be read.\n`);
    });
  addCommand(
    group,
    'restore',
    'restore a backup into an empty DATA_DIR',
    'backup restore --from /mnt/backups',
  )
    .option('--from <place>', FROM)
    .option('--at <time>', AT, readTime)
    .option('--without-erasures', 'do not erase again who was erased since: only where their list is lost')
    .action(
      async ({ from, at, json, withoutErasures = false }: FromOptions & { withoutErasures?: boolean }) => {
        const restored = await (await load()).restore({ from, at, withoutErasures });
        const { erasures, applications, note } = restored.erased;
        if (note !== null) {
          writeNote(io, `${note}\n`);
          io.exitCode = 1;
        }
        if (json) return writeJson(io, restoredJson(restored, withoutErasures ? null : applications));
        await writeOutput(io, `Restored backup ${restored.name}: the store of ${shown(restored.at)}.\n`);
        await writeOutput(io, `Put back ${counted(restored.files, 'file')} of documents and contracts.\n`);
        await writeOutput(
          io,
          withoutErasures
            ? 'Persons who were erased since are there again: erase them before the service starts (docs/subject.md).\n'
            : `Erased again: ${counted(applications, 'application')}, by ${counted(erasures, 'erasure')}.\n`,
        );
        await writeOutput(io, endedText(restored.ended));
      },
    );
}

function restoredJson(restored: Awaited<ReturnType<BackupActs['restore']>>, erasedAgain: number | null) {
  const { name: backup, ended } = restored;
  const operators = ended.losses.map(({ id, what }) => ({ id, lost: what }));
  return named({ ...restored, backup, erasedAgain, ended: { ...ended, operators } }, [
    'backup at bytes erased_again files',
    { ended: ['sessions links keys suppressions', { operators: 'id lost' }, 'until'] },
  ]);
}

function endedText({ sessions, links, keys, suppressions, losses, until }: EndedAgain): string {
  const signIns = `Ended: ${counted(sessions, 'session')} and ${counted(links, 'link')} of operators, who sign in again.\n`;
  if (until === null) {
    return `${signIns}The place tells nothing of what was ended later: revoke keys, add opt-outs and reset factors again by hand.\n`;
  }
  const lines = [
    ...keys.map((id) => `key ${id}`),
    ...losses.map(({ id, what }) => `operator ${id}: ${what}`),
    counted(suppressions, 'opt-out'),
  ];
  return `${signIns}Ended again, as the store of ${shown(until)} has it: ${lines.join('; ')}.\n`;
}

/** With milliseconds, because they decide what is in the store. */
function shown(time: Date): string {
  return time.toISOString();
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024).toLocaleString('en-US')} MiB`;
}
