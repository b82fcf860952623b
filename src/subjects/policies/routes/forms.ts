/** The schemas of the operator API's routes about policies. Pure. docs/policy.md ("The console") has the rules. */
import { type Static, Type } from 'typebox';
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import { By, form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';

/** The longest name of a version: of the first form. PostgreSQL knows no U+0000. */
export const Version = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000]*$' });
/** A document of a policy. Its own schema is checked by `rules/check-policy.ts`. */
export const Document = Type.Unsafe<PolicyDocument>(Type.Record(Type.String(), Type.Unknown()));
/** A document that somebody sends, whatever it is. */
const Sent = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const Code = Type.String({ maxLength: 64 });
const Accept = Type.Array(Code, { maxItems: 32 });
/** Its own rule is that of all reasons. */
const Reason = Type.String({ maxLength: 2_000 });

/** Who did something. */
export const Who = form({
  way: oneOf(['operator', 'service', 'command_line']),
  id: orNull(Type.Integer()),
  login: Type.String(),
});

export const Activation = form({
  id: Type.Integer(),
  version: Type.String(),
  at: Time,
  by: Who,
  second: orNull(Who),
  reason: Type.String(),
  accepted: Type.Array(Type.String()),
});

const Listed = form({
  version: Type.String(),
  state: oneOf(['draft', 'ready', 'live', 'retired']),
  is_withdrawn: Type.Boolean(),
  title: orNull(Type.String()),
  added_by: orNull(Who),
  added_at: Time,
  accepted: Type.Array(Type.String()),
  activated_at: orNull(Time),
});

export const Proposal = form({
  id: Type.Integer(),
  version: Type.String(),
  state: oneOf(['proposed', 'activated', 'undone', 'declined', 'returned']),
  by: By,
  at: Time,
  reason: Type.String(),
  accepted: Type.Array(Type.String()),
  /** From then on another admin may confirm it; until then its maker may undo it in any case. */
  due_at: Time,
  is_due: Type.Boolean(),
  second: orNull(By),
  ended_at: orNull(Time),
  /** The reason of a decline; the code of a return. */
  outcome: orNull(Type.String()),
});

export const Policies = form({
  versions: Type.Array(Listed),
  activations: Type.Array(Activation),
  proposals: Type.Array(Proposal),
});

const Finding = form({
  code: Type.String(),
  severity: oneOf(['error', 'warning']),
  place: Type.String(),
  text: Type.String(),
  /** What the text names, without a language: the page says it in its own. */
  facts: Type.Array(Type.String()),
});

export const VersionQuery = form({ version: Version });

export const Card = form({
  version: Type.String(),
  state: oneOf(['draft', 'ready', 'live', 'retired']),
  is_withdrawn: Type.Boolean(),
  sha256: Type.String(),
  document: Document,
  findings: Type.Array(Finding),
  to_accept: Type.Array(Type.String()),
  reasons: Type.Array(form({ code: Type.String(), en: Type.String(), es: Type.String(), pt: Type.String() })),
});

export const NewCheck = form({ document: Sent });
export const Findings = form({ findings: Type.Array(Finding) });

export const NewDraft = form({
  document: Sent,
  /** The digest of the draft that it replaces; null: there is none. */
  replaces: orNull(Type.String({ pattern: '^[0-9a-f]{64}$' })),
});
export const Draft = form({ version: Type.String(), sha256: Type.String(), findings: Type.Array(Finding) });

export const Withdrawal = form({ version: Version });
export const NewProposal = form({ version: Version, reason: Reason, accept: Accept });
export const Confirmation = form({ accept: Accept });
export const Decline = form({ reason: Reason });

export type PoliciesReply = Static<typeof Policies>;
export type ListedReply = Static<typeof Listed>;
export type ProposalReply = Static<typeof Proposal>;
export type WhoReply = Static<typeof Who>;
export type CardReply = Static<typeof Card>;
export type FindingReply = Static<typeof Finding>;
export type DraftReply = Static<typeof Draft>;
