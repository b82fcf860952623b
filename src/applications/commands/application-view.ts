/** How `ventanilla application` shows applications, to people and to programs. */

import { counted } from '../../base/counted.ts';
import { optionalTime, withOffset } from '../../base/time.ts';
import { type Io, recordOf, shortTime, writeList, writeNote, writeOutput } from '../../cli/output.ts';
import { MASK } from '../../cli/reveal.ts';
import type { StoredMessage } from '../../messages/uses/messages.ts';
import type { ApplicationId } from '../rules/ids.ts';
import { CRITERIA, MAX_POINTS } from '../rules/policy.ts';
import type { ExplainedApplication, StoredApplication } from '../uses/applications.ts';

/** Writes everything about an application, with its history as a table. */
export async function writeExplained(io: Io, application: ExplainedApplication): Promise<void> {
  const { id, partner, status, decision, score, points, messages, history } = application;
  const record = recordOf([
    ['Application', id],
    ['Registered', shortTime(application.createdAt)],
    ['Partner', `${partner.id} ${partner.name}`],
    ['Status', status],
    ['Decision', decision],
    ['Score', `${score ?? 'unreadable'} by policy ${application.policyVersion}`],
    ...CRITERIA.map((name) => [`  ${name}`, `${points[name] ?? '?'} of ${MAX_POINTS[name]}`] as const),
    ...(application.fault === null ? [] : [['Personal data', application.fault] as const]),
    ...Object.entries(application.fields).map(([name, value]) => [name, text(value)] as const),
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

/** Such as `offer, cancelled (replaced)`. */
function messageText({ type, status, reason }: StoredMessage): string {
  return `${type}, ${status}${reason === null ? '' : ` (${reason})`}`;
}

/** The debt with its currency; null where it cannot be read. */
export function debtText({ decision, fields }: StoredApplication): string | null {
  return decision === null ? null : `${fields.debt_amount} ${fields.currency}`;
}

/** A value of a field as text. */
export function text(value: string | number | boolean | null): string | null {
  return value === null ? null : String(value);
}

/** An application for programs; its members have the names of the contract. */
export function applicationJson(application: StoredApplication) {
  const { id, createdAt, partner, status, decision, score, fault, fields } = application;
  return {
    id,
    created_at: withOffset(createdAt),
    partner,
    status,
    decision,
    score,
    interested_at: optionalTime(application.interestedAt),
    signed_at: optionalTime(application.signedAt),
    withdrawable_until: optionalTime(application.withdrawableUntil),
    wrong_person: application.isWrongPerson,
    fault,
    ...fields,
  };
}

const PERSONAL = ['name', 'id_number', 'city', 'phone'] as const;

/** The application without its personal data; what is absent stays absent. */
export function masked<A extends StoredApplication>(application: A): A {
  const fields = { ...application.fields };
  for (const name of PERSONAL) if (fields[name] !== null) fields[name] = MASK;
  return { ...application, fields };
}

/** Everything about an application for programs. */
export function explainedJson(application: ExplainedApplication) {
  const { messages, history, points, policyVersion } = application;
  return {
    ...applicationJson(application),
    policy_version: policyVersion,
    points,
    messages: messages.map(({ type, status, reason, createdAt }) => ({
      ...{ type, status, reason },
      created_at: withOffset(createdAt),
    })),
    history: history.map(({ at, reasonCode, second, ...entry }) => ({
      at: withOffset(at),
      ...entry,
      reason_code: reasonCode,
      ...(second !== null && { second }),
    })),
  };
}

/** Says whose data is hidden, because hidden data must not look like absent data. */
export function tellFaults(io: Io, ids: readonly ApplicationId[]): void {
  if (ids.length === 0) return;
  const some = ids.slice(0, 5).join(', ') + (ids.length > 5 ? ' …' : '');
  const whose = ids.length === 1 ? `application ${some}` : `${counted(ids.length, 'application')} (${some})`;
  writeNote(
    io,
    `The personal data of ${whose} cannot be shown. See docs/messages.md, "Personal data that does not open".\n`,
  );
  io.exitCode = 1;
}
