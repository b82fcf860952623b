/** What a stored input is to the rules. Pure. */

import type { Input } from '../../../domain/conversation/input.ts';
import type { State } from '../../../domain/conversation/state.ts';
import type { ReceivedWithdrawal } from '../../../domain/loan/withdrawal.ts';
import { parsePayload } from '../rules/payload.ts';
import type { SealedInput } from '../sql/inputs.ts';

/** What a person sends beside an answer, such as the notice before an album's pictures. */
const QUIET: readonly string[] = ['reaction', 'unsupported'];

/**
 * The input of the rules. `at`: when it was sent, or stored where it tells no time of its own. `canSay`: the channel's
 * window is open. A second begin is a tap of something else.
 */
export function ruleInputOf(
  content: SealedInput,
  at: Date,
  { place, unsaid }: State,
  canSay: boolean,
): Input {
  if (content.isOfOtherPhone) return { kind: 'other_phone' };
  switch (content.kind) {
    case 'interest':
    case 'begin':
      return place === 'started' && !unsaid ? { kind: 'begin', canSay } : { kind: 'foreign_tap' };
    case 'tap': {
      const payload = parsePayload(content.payload);
      return payload === null
        ? { kind: 'foreign_tap' }
        : { kind: 'tap', ...payload, atMs: content.sentMs ?? at.getTime() };
    }
    case 'status':
      return { kind: 'status', status: content.status, canSay };
    case 'withdrawal_received':
      return { kind: content.kind };
    case 'handed_on':
      return { kind: 'other', isQuiet: true };
    case 'other':
      return { kind: 'other', isQuiet: QUIET.includes(content.what) };
    default:
      return content;
  }
}

/** A withdrawal that an operator recorded; null: the input is something else. */
export function receivedOf(content: SealedInput | undefined): ReceivedWithdrawal | null {
  return content?.kind === 'withdrawal_received' ? content : null;
}
