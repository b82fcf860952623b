/** The variable that only monitoring reads (docs/monitoring.md, "/metrics"). Pure. */
import type { Setting } from '../../ground/base/setting.ts';

/** A partner has about ten series in each process. */
const MOST = 1_000;

/** How many partners have series of their own. */
export const METRICS_PARTNERS: Setting<number> = {
  variable: 'METRICS_PARTNERS',
  read: (text = '100') => {
    if (!/^(0|[1-9]\d{0,3})$/.test(text) || Number(text) > MOST) {
      throw new RangeError(`must be a whole number from 0 to ${MOST}`);
    }
    return Number(text);
  },
};
