/**
 * Signs pushes as the Standard Webhooks specification says (D41; docs/events.md, "Push"). Pure but for random bytes.
 */
import { createHmac } from 'node:crypto';
import { randomBytes } from '../../../../seal/vault.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret, as the partner gets it. */
export function makeSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The text that is sent, and what else its signature covers. */
interface SignedText {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that let the receiver check origin, age and text, with one signature for each secret. */
export function signatureHeaders(
  { id, timestamp, body }: SignedText,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signatures.join(' ') };
}
