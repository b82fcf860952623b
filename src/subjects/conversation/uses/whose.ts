/**
 * Decides which conversation a person's message belongs to (D43; D46 for withdrawals; docs/signing.md, "The
 * signature"). Pure: `sql/match.ts` finds the conversations.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withdrawalOf } from '../../../domain/conversation/words.ts';
import type { Heard } from '../../../domain/message/channel-event.ts';
import { parseInterestPayload } from '../../../domain/message/outgoing-message.ts';
import type { Found, Known } from '../sql/match.ts';

/** The application whose "I am interested" was tapped; null: no such tap, or the person opts out by it. */
export function interestOf({ event, optsOut }: Heard): ApplicationId | null {
  return event.kind === 'tap' && !optsOut ? parseInterestPayload(event.payload) : null;
}

/** What the person wishes to withdraw from; null: the message is no such wish. */
export function withdrawalIn({ event }: Heard): ReturnType<typeof withdrawalOf> {
  return event.kind === 'text' ? withdrawalOf(event.body) : null;
}

/**
 * The conversation of the message that the person answers, or of the phone. An open conversation comes before one that
 * ended, because the phone now belongs to the person of the open one. The phone's own conversation comes before that of
 * another phone. First of all comes the signed contract that the person withdraws from (`withdrawnFrom`).
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
 * The conversation whose signature the person withdraws, even if the phone has a newer open one; null: none. The law
 * gives little time, so a wish that can only mean the signed contract reaches it (D46). If a wish can mean both, the
 * first of these rules decides:
 *
 * 1. An answer to a message means the conversation of that message.
 * 2. Words of the right that only a signed contract gives, as the message after it names them, mean that contract.
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

/** Whether a withdrawal was sent in time. It counts even if the channel tells it late. */
function isInTime({ event }: Heard, { isWithdrawable, withdrawableUntil }: Found): boolean {
  return isWithdrawable || (withdrawableUntil !== null && event.at < withdrawableUntil);
}

/**
 * Whether the message came from another phone than the application's. The application's phone may belong to somebody
 * else by now, so nothing is said there. If the channel tells no phone, the answer goes to the application's phone.
 */
export function isOfOtherPhone({ event, phoneIndex }: Heard, found: Found): boolean {
  return event.from !== null && phoneIndex !== found.phoneIndex;
}
