/**
 * The codes of an installation's troubles, and the bounds from which they are troubles. Pure. docs/runbook.md has a
 * section for each code; a test compares the bounds with `deploy/monitoring/rules.yaml`.
 */

/** A trouble. `code` names its section in docs/runbook.md. */
export interface Trouble {
  readonly code: TroubleCode;
  readonly text: string;
}

/** A trouble that stands at this moment. */
export interface StandingTrouble extends Trouble {
  /** null: nobody has noted it yet. */
  readonly since: Date | null;
}

export const TROUBLE_CODES = [
  ...(['database_unreachable', 'schema_unfit', 'schema_pending', 'role_unfit'] as const),
  ...(['no_upkeep', 'upkeep_failing'] as const),
  ...(['partitions_short', 'sender_paused', 'channel_broken', 'templates_paused'] as const),
  ...(['messages_late', 'replies_late', 'messages_undelivered', 'messages_uncertain'] as const),
  ...(['reviews_overdue', 'proposals_unconfirmed', 'cases_overdue'] as const),
  ...(['inputs_late', 'work_late', 'scanner_away', 'work_failed', 'conversations_held'] as const),
  ...([
    'replies_uncertain',
    'contracts_blocked',
    'contracts_unfinished',
    'documents_missing',
    'documents_not_read',
    'terms_refused',
  ] as const),
  ...(['endpoints_disabled', 'endpoints_broken', 'pushes_late', 'refusal_sweep', 'policy_drifted'] as const),
  ...(['keys_differ', 'seals_near_bound', 'reseal_stuck', 'backup_failing', 'backup_overdue'] as const),
  ...(['rows_forged'] as const),
] as const;
export type TroubleCode = (typeof TROUBLE_CODES)[number];

/** If a number is above its bound (for partitions: below), something is wrong. Times are in seconds. */
export const BOUNDS = {
  /** Jobs run every 15 seconds, or every five minutes. */
  sinceUpkeepS: 120,
  sinceJobS: 1_200,
  /** A base backup is made once a day. */
  sinceBackupS: 93_600,
  backupsFailing: 0,
  /** The upkeep keeps this above 1, except for a moment after it has left a partition. */
  partitionsAhead: 0.9,
  lateS: 900,
  /** After the time that REVIEW_DUE_HOURS gives. */
  reviewOverdueS: 3_600,
  /** Nobody has to confirm at night; after seven days it returns to its maker. */
  unconfirmedS: 86_400,
  /** The law or the operator set the term. */
  caseOverdueS: 0,
  /** A person waits for it. */
  replyWaitsS: 120,
  /** Files wait 15 seconds for more files. */
  inputWaitsS: 120,
  /** Reading takes a minute; failing work is given up after half an hour. */
  workWaitsS: 300,
  scannerAwayS: 60,
  workFailed: 0,
  /** The channel takes an answer for a day. */
  heldS: 14_400,
  /** Most events come within seconds. */
  replyUncertainS: 900,
  contractsBlocked: 0,
  /** The final PDF is made within seconds. */
  unfinishedS: 600,
  missingFiles: 0,
  notRead: 0,
  termsRefused: 0,
  rowsForged: 0,
  undelivered: 20,
  /** An operator may settle such a message. */
  unsettledS: 3_600,
  pushWaitsS: 3_600,
  sealing: 1,
  /** The share of the seals that one data key is good for. */
  share: 0.8,
  /** A step of a reseal is due again half a minute after its process died. */
  resealLateS: 300,
} as const;

/** A time in seconds for people, in its largest unit. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
