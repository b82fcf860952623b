/**
 * The facts that the store has about conversations, documents and contracts, for metrics and `status`. Types alone,
 * times in seconds. docs/monitoring.md has the rule.
 */

/** Open conversations at a step, by who speaks. */
export interface OpenFacts {
  readonly step: string;
  readonly holder: string;
  readonly conversations: number;
}

/** Conversations that wait for an operator, by the reason of the hand-over. */
export interface HeldFacts {
  readonly reason: string;
  readonly conversations: number;
  /** How long the oldest of them waits. */
  readonly oldestS: number;
}

/** Work beside conversations that waits or is being done. */
export interface WorkFacts {
  readonly work: string;
  /** Why the last try failed, one of `WORK_REASONS`. */
  readonly reason: string;
  readonly waiting: number;
  /** How long ago the oldest of them was asked for. */
  readonly oldestS: number;
}

/** `none`: no try has failed. `other`: a code of the channel. */
export const WORK_REASONS = [
  ...['none', 'channel', 'scanner', 'store', 'unknown_key', 'failed', 'no_time_stamp', 'other'],
] as const;

export interface DocumentFacts {
  readonly state: string;
  readonly documents: number;
  /** The bytes of their files, before they are sealed. */
  readonly bytes: number;
}

/** Applications that get no contract until an operator mends something (docs/signing.md), by the code of the reason. */
export interface BlockedFacts {
  readonly reason: string;
  readonly applications: number;
}

export interface ConversationFacts {
  readonly open: readonly OpenFacts[];
  readonly held: readonly HeldFacts[];
  /** Inputs that no turn has taken. */
  readonly inputs: { readonly waiting: number; readonly oldestS: number };
  readonly work: readonly WorkFacts[];
  /** Replies that wait or are on their way, and how long a person has waited for the oldest of them. */
  readonly replies: { readonly queued: number; readonly sending: number; readonly oldestS: number };
  /** Replies of unknown fate that can still be sent again. */
  readonly uncertain: { readonly replies: number; readonly oldestS: number };
  readonly documents: readonly DocumentFacts[];
  /** Documents whose file the upkeep did not find. */
  readonly missingFiles: number;
  /** Documents that wait for an operator because the installation reads none. */
  readonly notRead: number;
  readonly blocked: readonly BlockedFacts[];
  /** Signed contracts without their final PDF, and how long ago the oldest of them was signed. */
  readonly unfinished: { readonly contracts: number; readonly oldestS: number };
}
