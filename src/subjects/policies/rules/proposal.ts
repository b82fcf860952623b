/**
 * Why an activation that was proposed at the console is refused or goes back to its maker, as codes and in words (D48,
 * D51; docs/policy.md, "Four eyes"). Pure.
 */

/** Why a proposal goes back: it ends, and nothing is activated. */
export const RETURNED = {
  expired: 'nobody confirmed it within seven days',
  withdrawn: 'the version was withdrawn meanwhile',
  draft_changed: 'the draft was changed meanwhile',
  other_live: 'another version was activated meanwhile',
  warnings_changed: 'the draft has other warnings by now',
  maker: 'its maker is no admin any more',
} as const;
export type ReturnedFor = keyof typeof RETURNED;

/** The codes with which the routes of policies refuse (409). */
export const POLICY_CONFLICTS = [
  ...(Object.keys(RETURNED) as ReturnedFor[]),
  /** The proposal has ended; `state` tells how, `by` who ended it. */
  'not_open',
  /** The maker may still undo it, up to `until`. */
  'too_soon',
  /** A warning was not accepted by name; `codes` has those of the version. */
  'not_accepted',
  /** An activation of the version is proposed already: by whom (`by`). */
  'proposed',
  /** The version is live. */
  'live',
  /** The version may be activated from a later day on (`from`). */
  'not_valid_yet',
  /** The document has errors; `findings` has them. */
  'refused',
  /** A version that is ready, live or retired has this name. */
  'taken',
  /** The store has no room for another draft. */
  'too_many_drafts',
  /** The version is neither a draft nor ready without having been live. */
  'not_withdrawable',
] as const;
export type PolicyConflict = (typeof POLICY_CONFLICTS)[number];

/** Whether the same codes are accepted, in whatever order. */
export function areAccepted(codes: readonly string[], accept: readonly string[]): boolean {
  const given = new Set(accept);
  return given.size === new Set(codes).size && codes.every((code) => given.has(code));
}
