/** The variables that only the review desk reads (docs/operators.md, "The operator API"). */
import type { Setting } from '../../ground/base/setting.ts';

/** After how many hours from its registration the decision on an application in review is due. */
export const REVIEW_DUE_HOURS: Setting<number> = {
  variable: 'REVIEW_DUE_HOURS',
  read: (text = '24') => {
    if (!/^[1-9]\d{0,3}$/.test(text)) throw new RangeError('must be a whole number of hours from 1 to 9999');
    return Number(text);
  },
};

/** For how many seconds the maker of a proposal can undo it; then it is applied (D48). */
export const UNDO_SECONDS: Setting<number> = {
  variable: 'UNDO_SECONDS',
  read: (text = '10') => {
    const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    if (seconds < 10 || seconds > 600)
      throw new RangeError('must be a whole number of seconds from 10 to 600');
    return seconds;
  },
};

/** The share of the desk's applied decisions that get a second look, from 0 to 1. */
export const SECOND_LOOK_SHARE: Setting<number> = {
  variable: 'SECOND_LOOK_SHARE',
  read: (text = '0.02') => {
    if (!/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(text))
      throw new RangeError('must be a decimal number from 0 to 1, such as 0.02');
    return Number(text);
  },
};
