/** Whose message a person's message is: the conversation that it belongs to. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Heard } from '../../../domain/message/channel-event.ts';
import { parseInterestPayload } from '../../../domain/message/outgoing-message.ts';
import { withdrawalOf } from '../rules/words.ts';
import type { Found, Known } from '../sql/match.ts';

/** The application whose "I am interested" was tapped; null: none was, or the person opts out by it. */
export function interestOf({ event, optsOut }: Heard): ApplicationId | null {
  return event.kind === 'tap' && !optsOut ? parseInterestPayload(event.payload) : null;
}

/** What the person wishes to withdraw from; null: this is no such wish. */
export function withdrawalIn({ event }: Heard): ReturnType<typeof withdrawalOf> {
  return event.kind === 'text' ? withdrawalOf(event.body) : null;
}

/**
 * The conversation of the message that the person answers, or of the phone. One that is open wins over one that ended,
 * because the phone is then of the person who has the open one. The phone's own wins over that of another phone. Before
 * all of these comes the signed contract that the person withdraws from (`withdrawnFrom`).
 */
export function foundFor(one: Heard, { contexts, applications, phones, signed }: Known): Found | null {
  const interest = interestOf(one);
  const application = (one.contextIndex && contexts.get(one.contextIndex)) ?? null;
  const byContext = application === null ? null : (applications.get(application) ?? null);
  const byPhone = one.phoneIndex === null ? null : (phones.get(one.phoneIndex) ?? null);
  const tapped = interest === null ? null : (applications.get(interest) ?? null);
  const byTap =
    tapped !== null && (tapped.phoneIndex === one.phoneIndex || byContext?.id === tapped.id) ? tapped : null;
  const signedOne = one.phoneIndex === null ? null : (signed.get(one.phoneIndex) ?? null);
  const withdrawn = withdrawnFrom(one, byContext, byPhone, signedOne);
  if (withdrawn !== null) return withdrawn;
  const found = [byTap, byContext, byPhone].filter((some) => some !== null);
  const ordered = [
    ...found.filter((some) => !isOfOtherPhone(one, some)),
    ...found.filter((some) => isOfOtherPhone(one, some)),
  ];
  return ordered.find(({ isOpen }) => isOpen) ?? ordered[0] ?? null;
}

/**
 * The conversation whose signature the person withdraws, where the phone has a newer open one too; null: none. The time
 * of the law is short, so a wish that can mean the signed contract alone reaches it (D46). Of what can mean both the
 * most specific rule decides:
 *
 * 1. An answer to a message means the conversation of that message.
 * 2. Words of the right that a signed contract alone gives, as the message after the signature names it, mean it.
 * 3. Words that name a contract mean it, unless the open conversation asks about its own contract.
 * 4. Any other words, such as "cancelar", mean what the person is being asked: the open conversation.
 */
function withdrawnFrom(
  one: Heard,
  byContext: Found | null,
  byPhone: Found | null,
  signed: Found | null,
): Found | null {
  const wish = withdrawalIn(one);
  if (wish === null) return null;
  if (byContext !== null)
    return isInTime(one, byContext) && !isOfOtherPhone(one, byContext) ? byContext : null;
  const isMeant = wish === 'signature' || (wish === 'contract' && byPhone?.isAtContract !== true);
  return isMeant && signed !== null && isInTime(one, signed) ? signed : null;
}

/** What was sent in time is taken for it, also where the channel tells of it late. */
function isInTime({ event }: Heard, { isWithdrawable, withdrawableUntil }: Found): boolean {
  return isWithdrawable || (withdrawableUntil !== null && event.at < withdrawableUntil);
}

/**
 * Whether the channel tells another phone than the application's. The application's phone may be somebody else's by
 * now, so nothing is said there. A person whose phone the channel does not tell is answered at the application's phone.
 */
export function isOfOtherPhone({ event, phoneIndex }: Heard, found: Found): boolean {
  return event.from !== null && phoneIndex !== found.phoneIndex;
}
