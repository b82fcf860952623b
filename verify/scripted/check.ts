/** Whether a history of scripted applicants keeps the rules. Pure: the same history gives the same violations. */
import { checkAcceptances } from './rules/acceptances.ts';
import { checkCodes } from './rules/codes.ts';
import { checkEnds } from './rules/ends.ts';
import { checkEvents } from './rules/events.ts';
import { checkEvidence } from './rules/evidence.ts';
import { checkInbox } from './rules/inbox.ts';
import { checkInputs } from './rules/inputs.ts';
import { checkOptOuts } from './rules/opt-outs.ts';
import { checkReplies } from './rules/replies.ts';
import { checkSignatures } from './rules/signatures.ts';
import { checkSteps } from './rules/steps.ts';
import type { Found, History } from './seen.ts';

/** The rules, each with its source. */
export const RULES = {
  ends: 'every conversation and its application end as the script says (D43)',
  inputs: 'what a person sends is stored once and taken by one turn, and nothing waits (D43)',
  replies: 'a reply goes out once, unless the channel reports the first one as failed (D43)',
  inbox: 'operators answer whoever waits for a person once, and forget nobody (D43, D48)',
  opt_outs: 'after an opt-out nothing follows (D43)',
  steps: 'no step is taken twice (D43)',
  acceptances: 'nobody accepts a consent, an offer or a contract that the phone had not shown (D46)',
  signatures: 'no contract is signed that was not shown and accepted (D46)',
  codes: 'a code signs once, and it is one that went out on the second way (D46)',
  evidence: 'the evidence has no gap, and each row follows from the one before (D46)',
  events: 'the events of the partner have no gaps, come once, and are those of the script (D47)',
} as const;
export type Rule = keyof typeof RULES;

export interface Violation extends Found {
  readonly rule: Rule;
}

const CHECKS: Readonly<Record<Rule, (history: History) => Found[]>> = {
  ends: checkEnds,
  inputs: checkInputs,
  replies: checkReplies,
  inbox: checkInbox,
  opt_outs: checkOptOuts,
  steps: checkSteps,
  acceptances: checkAcceptances,
  signatures: checkSignatures,
  codes: checkCodes,
  evidence: checkEvidence,
  events: checkEvents,
};

/** Every violation of every rule, in the order of the rules. */
export function checkScripted(history: History): Violation[] {
  return (Object.keys(RULES) as Rule[]).flatMap((rule) =>
    CHECKS[rule](history).map((found) => ({ rule, ...found })),
  );
}
