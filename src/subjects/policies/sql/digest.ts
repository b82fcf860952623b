/** The digest of a policy: tells whether two have the same content, whatever the order of their members. Pure. */
import { createHash } from 'node:crypto';
import type { PolicyContent } from '../../../domain/scorecard/content.ts';

/** SHA-256 of the canonical JSON (members in the order of their names), 64 lower-case hex digits. */
export function digestOf(content: PolicyContent): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
