/** The variables that the applications alone read. */
import { readLimit, type Setting } from '../base/setting.ts';

/** The days after which applications are deleted; null: never. */
export const RETENTION_DAYS: Setting<number | null> = {
  variable: 'RETENTION_DAYS',
  read: (text = 'none') => readLimit(text),
};
