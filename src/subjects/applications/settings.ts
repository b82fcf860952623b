/**
 * The variables that only the applications read: how long applications are kept. Reads the policy's file;
 * docs/operations.md ("How long applications are kept") has the rule.
 */
import { readFileSync } from 'node:fs';
import { type Retention, readRetention } from '../../domain/application/retention.ts';
import { errorCode } from '../../ground/base/describe-error.ts';
import { parseOperatorJson, RepeatedNameError } from '../../ground/base/operator-json.ts';
import { type ReadSetting, readLimit, type Setting } from '../../ground/base/setting.ts';

/** The days after which applications are deleted; null: never. */
export const RETENTION_DAYS: Setting<number | null> = {
  variable: 'RETENTION_DAYS',
  read: (text = 'none') => readLimit(text),
};

/** The file that says how long applications of each final status are kept; null: there is none. */
export const RETENTION_POLICY: Setting<Retention | null> = {
  variable: 'RETENTION_POLICY',
  excludes: 'RETENTION_DAYS',
  read: (path) => (path === undefined ? null : readRetention(readJson(path))),
};

/** How long applications are kept; null: for ever. */
export function retentionOf(setting: ReadSetting): Retention | null {
  const days = setting(RETENTION_DAYS);
  return setting(RETENTION_POLICY) ?? (days === null ? null : { rejected: days, disbursed: days });
}

function readJson(path: string): unknown {
  try {
    return parseOperatorJson(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof RepeatedNameError ? error.message : (errorCode(error) ?? 'it is no JSON');
    throw new RangeError(`must name a JSON file that this user may read (${why})`);
  }
}
