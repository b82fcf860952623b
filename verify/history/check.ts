/** Whether a history keeps the rules of the service. Pure: the same history gives the same violations. */
import type { Found, History } from './history.ts';
import { Lookup } from './lookup.ts';
import { checkAcknowledged } from './rules/acknowledged.ts';
import { checkClaims } from './rules/claims.ts';
import { checkEvents } from './rules/events.ts';
import { checkMessages } from './rules/messages.ts';
import { checkOptOuts } from './rules/opt-outs.ts';
import { checkOutdated } from './rules/outdated.ts';
import { checkPhones } from './rules/phones.ts';
import { checkProposals } from './rules/proposals.ts';
import { checkQuota } from './rules/quota.ts';
import { checkRecipients } from './rules/recipients.ts';
import { checkRefused } from './rules/refused.ts';
import { checkReplays } from './rules/replays.ts';
import { checkSecondOperators } from './rules/second-operators.ts';
import { checkSends } from './rules/sends.ts';
import { checkUndone } from './rules/undone.ts';

/** The rules, each with its source. */
export const RULES = {
  phones: 'no phone has two open applications at any time (contract, "Duplicate rule")',
  quota: 'no window of a partner is over its cap, and none is used up below it (D16, D18, D39)',
  acknowledged: 'every acknowledged outcome is stored once, as it was acknowledged (D15, D34)',
  refused:
    'nothing is stored that was refused, nothing valid is invalid, and of a batch all or nothing (contract, "Endpoints"; D15, D16, D37)',
  messages: 'every cause of a message has one message, and there is no other (D33, D40)',
  sends: 'the channel accepts a message at most once, unless it reports the first one as failed (D33)',
  optOuts: 'no send begins to a phone after its opt-out (D40, D42)',
  outdated: 'no send begins of a message that an acknowledged review contradicts (D40)',
  recipients: 'a phone gets at most 3 messages in 24 hours, and one rejection among them (D42)',
  events: 'events of a partner have no gaps and the order of their causes, in the feed and the pushes (D41)',
  proposals:
    'every proposal ends once, as it was made, and the desk applies nothing that nobody proposed (D34, D48)',
  undone: 'what was undone is never applied, and nothing is applied while it can be undone (D48)',
  secondOperators: 'what needs a second operator has another one, whom the history names (D48)',
  claims: 'two operators never hold an application at the same time (D48; docs/operators.md)',
  replays: 'every repeated answer equals the first one (D36)',
} as const;

export type Rule = keyof typeof RULES;

/** A rule, whose data show that it is broken, and how. */
export interface Violation extends Found {
  readonly rule: Rule;
}

const CHECKS: Readonly<Record<Rule, (history: History, lookup: Lookup) => Found[]>> = {
  phones: checkPhones,
  quota: checkQuota,
  acknowledged: checkAcknowledged,
  refused: checkRefused,
  messages: checkMessages,
  sends: checkSends,
  optOuts: checkOptOuts,
  outdated: checkOutdated,
  recipients: checkRecipients,
  events: checkEvents,
  proposals: checkProposals,
  undone: checkUndone,
  secondOperators: checkSecondOperators,
  claims: checkClaims,
  replays: checkReplays,
};

/** Every violation of every rule, in the order of the rules. */
export function checkHistory(history: History): Violation[] {
  const lookup = new Lookup(history);
  return (Object.keys(RULES) as Rule[]).flatMap((rule) =>
    CHECKS[rule](history, lookup).map((found) => ({ rule, ...found })),
  );
}
