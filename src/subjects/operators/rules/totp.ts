/** One-time codes of an authenticator app: six digits, a new code every 30 seconds (RFC 6238). Pure. */
import { Secret, TOTP } from 'otpauth';

const PERIOD_S = 30;
/** RFC 4226, section 4, asks for 160 bits. */
export const SECRET_BYTES = 20;
/** A code of the step before or after the present one counts too: clocks differ, and typing takes time. */
const STEPS_AROUND = 1;

/** The address that an authenticator app reads, as a text or as a picture. */
export function totpUri(secret: Buffer, login: string): string {
  return totpOf(secret, login).toString();
}

/**
 * The time step of a right code that is later than `lastStep`. Null for a wrong code, and for one that was taken before
 * (RFC 6238, section 5.2). `nowMs` is the database's time. Spaces do not count, because apps show a code in two halves.
 */
export function stepOfCode(secret: Buffer, code: string, nowMs: number, lastStep: number): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totpOf(secret).validate({ token, timestamp: nowMs, window: STEPS_AROUND });
  if (delta === null) return null;
  const step = Math.floor(nowMs / 1000 / PERIOD_S) + delta;
  return step > lastStep ? step : null;
}

function totpOf(secret: Buffer, label = 'operator'): TOTP {
  const bytes = new Secret({ buffer: new Uint8Array(secret).buffer });
  return new TOTP({
    issuer: 'Ventanilla',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
    secret: bytes,
  });
}
