/** The variables that only the conversations read (docs/upkeep.md explains CONVERSATION_DAYS). */
import { readLimit, type Setting } from '../../ground/base/setting.ts';

/** The channel repeats a message for a week at most, and its id must still be known then. */
const LEAST_DAYS = 30;

/** For how many days after its end the chat of a conversation is kept; null: as long as its application. */
export const CONVERSATION_DAYS: Setting<number | null> = {
  variable: 'CONVERSATION_DAYS',
  read: (text = 'none') => {
    const days = readLimit(text);
    if (days !== null && days < LEAST_DAYS) {
      throw new RangeError(`must be a whole number, ${LEAST_DAYS} or more, or the word none`);
    }
    return days;
  },
};
