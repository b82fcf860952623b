/**
 * `ventanilla application show`: shows an application with its points, its history and its messages (D30, D34). A
 * reveal is recorded first.
 */
import type { Command } from 'commander';
import { isPersonalField } from '../../../domain/application/correction.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { CRITERIA, MAX_POINTS } from '../../../domain/scorecard/scorecard.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { named } from '../../../ground/base/named.ts';
import { namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type Io,
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { addReveal, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { noting } from '../../../program/operations/acting.ts';
import {
  applicationJson,
  masked,
  maskedCorrections,
  tellFaults,
  text,
} from '../../applications/commands/application-view.ts';
import type { Correction } from '../../applications/uses/applications.ts';
import { type ExplainedApplication, showApplication } from '../uses/explained-application.ts';
import type { StoredMessage } from '../uses/messages.ts';

/** Adds the command to the group of the applications. It is here because applications may not import messages. */
export function addApplicationShow(group: Command, { roles, io }: Cli): void {
  addReveal(
    addCommand(group, 'show', 'show an application, its points and its history', 'application show 12'),
  )
    .argument('<id>', 'the application', readApplicationId)
    .action(
      (id: ApplicationId, { json, ...options }: { json?: boolean } & RevealOptions, command: Command) => {
        const why = revealReason(options, command);
        return roles.operate(async (context) => {
          const found = await showApplication(context, id);
          if (why !== null)
            await noting(namedBy(options, context), {
              act: 'application show --reveal',
              applicationId: id,
              reason: why,
            });
          const application =
            why === null ? { ...masked(found), corrections: maskedCorrections(found.corrections) } : found;
          if (json) await writeJson(io, explainedJson(application));
          else await writeExplained(io, application);
          tellFaults(io, application.fault === null ? [] : [id]);
        });
      },
    );
}

/** Writes everything about an application, with the history as a table. */
async function writeExplained(io: Io, application: ExplainedApplication): Promise<void> {
  const { id, partner, status, decision, score, points, messages, history } = application;
  const record = recordOf([
    ['Application', id],
    ['Registered', shortTime(application.createdAt)],
    ['Partner', `${partner.id} ${partner.name}`],
    ['Status', status],
    ['Decision', decision],
    ['Score', `${score ?? 'unreadable'} by policy ${application.policyVersion}`],
    ...CRITERIA.map((name) => [`  ${name}`, `${points[name] ?? '?'} of ${MAX_POINTS[name]}`] as const),
    ...application.reasons.map(
      ({ code, words }, index) => [`Reason ${index + 1}`, words?.en ?? code] as const,
    ),
    ...(application.fault === null ? [] : [['Personal data', application.fault] as const]),
    ...Object.entries(application.fields).map(([name, value]) => [name, text(value)] as const),
    ...application.corrections.map((one) => ['Corrected', correctionText(one)] as const),
    ['Messages', messages.map(messageText).join('; ') || 'none'],
    ['Interested', shortTime(application.interestedAt)],
    ['Signed', shortTime(application.signedAt)],
    ['May withdraw until', shortTime(application.withdrawableUntil)],
    ...(application.isWrongPerson ? [['Wrong person', 'nothing goes to the phone'] as const] : []),
  ]);
  await writeOutput(io, `${record}\n\n`);
  await writeList(
    io,
    history,
    { limit: history.length + 1 },
    {
      columns: [
        { title: 'AT', value: ({ at }) => shortTime(at) },
        {
          title: 'WHO',
          value: ({ actor, way, second }) => {
            const names = second === null ? actor : `${actor} and ${second}`;
            return way === 'command_line' ? `${names}, by the command line` : names;
          },
        },
        { title: 'ACTION', value: ({ action }) => action },
        { title: 'FROM', value: ({ from }) => from },
        { title: 'TO', value: ({ to }) => to },
        { title: 'CODE', value: ({ reasonCode }) => reasonCode },
        { title: 'REASON', value: ({ reason }) => reason },
      ],
      json: (entry) => entry,
      none: '',
    },
  );
}

/** Such as `income, 2026-11-30 10:00 by ana: 3200000, now 3500000; decided with the old value`. */
function correctionText({ field, at, actor, values }: Correction): string {
  const change =
    values === null ? 'cannot be read' : `${text(values.before) ?? 'nothing'}, now ${text(values.after)}`;
  const decided = isPersonalField(field) ? '' : '; decided with the old value';
  return `${field}, ${shortTime(at)} by ${actor}: ${change}${decided}`;
}

/** Such as `offer, cancelled (replaced)`. */
function messageText({ type, status, reason }: StoredMessage): string {
  return `${type}, ${status}${reason === null ? '' : ` (${reason})`}`;
}

/** Everything about an application, as JSON. */
export function explainedJson(application: ExplainedApplication) {
  const names = ['policy_version', { points: '*', messages: 'type status reason created_at' }] as const;
  return {
    ...applicationJson(application),
    ...named(application, names),
    reasons: application.reasons.map(({ code, words }) => ({ code, text: words?.en ?? null })),
    corrections: application.corrections.map(({ values, ...one }) => ({
      ...named(one, 'id field at actor'),
      ...(values ?? { before: null, after: null }),
      decided_with_old_value: !isPersonalField(one.field),
    })),
    history: application.history.map(({ at, reasonCode, second, ...entry }) => ({
      at: withOffset(at),
      ...entry,
      reason_code: reasonCode,
      ...(second !== null && { second }),
    })),
  };
}
