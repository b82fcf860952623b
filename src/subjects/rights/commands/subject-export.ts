/** `ventanilla subject export`. */
import type { Command } from 'commander';
import { withOffset } from '../../../ground/base/time.ts';
import { namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { writeJson, writeNote } from '../../../program/cli/output.ts';
import { addReveal, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { noting } from '../../../program/operations/acting.ts';
import type { Act } from '../../../program/operations/sql/operator-events.ts';
import { tellFaults } from '../../applications/commands/application-view.ts';
import { explainedJson } from '../../messages/commands/application-show.ts';
import { type Exported, exportSubject } from '../uses/export-subject.ts';
import { addNamed, foundText, type NamedOptions, readAsked, requireOne } from './named-person.ts';

interface ExportOptions extends NamedOptions, RevealOptions {
  readonly json?: boolean;
}

/** Adds `subject export`. */
export function addExport(group: Command, { roles, io, clock }: Cli): void {
  const example = 'subject export --phone - --reveal --reason "ticket 4711"';
  const command = addCommand(group, 'export', 'print everything about a person as JSON', example);
  addNamed(addReveal(command)).action((options: ExportOptions, used: Command) => {
    requireOne(options, used);
    const reason = revealReason(options, used);
    if (reason === null) used.error('error: it prints personal data: add --reveal --reason TEXT');
    return roles.operate(async (context) => {
      const exported = await exportSubject(context, await readAsked(io, options), (ids) => {
        const act = 'subject export';
        const [first = { act, reason }, ...others] = ids.map(
          (applicationId): Act => ({ act, applicationId, reason }),
        );
        return noting(namedBy(options, context), first, ...others);
      });
      await writeJson(io, exportedJson(exported, new Date(clock.nowMs())));
      const { applications, spellings } = exported;
      if (!options.json) writeNote(io, `${foundText(options, applications.length, spellings.size)}\n`);
      const faulty = exported.applications.filter(({ application }) => application.fault !== null);
      tellFaults(
        io,
        faulty.map(({ application }) => application.id),
      );
    });
  });
}

function exportedJson({ applications, spellings, events, phones }: Exported, now: Date) {
  return withTimes({
    exported_at: now,
    spellings: spellings.size,
    applications: applications.map(({ application, beside }) => ({
      ...explainedJson(application),
      ...beside,
    })),
    events,
    ...phones,
  });
}

/** Every time in the form of the other commands. */
function withTimes(value: unknown): unknown {
  if (value instanceof Date) return withOffset(value);
  if (Array.isArray(value)) return value.map(withTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTimes(one)]));
}
