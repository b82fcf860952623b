/** Calls Belvo's API. What comes back is checked by its callers. */

/** The account of the operator. `url` has no slash at its end. */
export interface BelvoAccount {
  readonly url: string;
  readonly secretId: string;
  readonly secretPassword: string;
  /** Where the person goes on after the link; null: the link's page stays. */
  readonly returnUrl: string | null;
}

/** An answer of the API; `value` is undefined where it is no JSON. */
export interface BelvoAnswer {
  readonly status: number;
  readonly value: unknown;
}

const MOST_BYTES = 2_000_000;

/** null: the API is away, busy, or says more than can be read. Ask again. */
export async function callBelvo(
  { url, secretId, secretPassword }: BelvoAccount,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body: object | null,
  signal: AbortSignal,
): Promise<BelvoAnswer | null> {
  try {
    const response = await fetch(`${url}/api/${path}`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        Authorization: `Basic ${Buffer.from(`${secretId}:${secretPassword}`).toString('base64')}`,
        ...(body !== null && { 'Content-Type': 'application/json' }),
      },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    const value = await jsonOf(response);
    return status >= 500 || status === 429 || status === 408 ? null : { status, value };
  } catch {
    return null;
  }
}

/** The value of an answer; undefined where it is no JSON. Throws where it is too long. */
async function jsonOf(response: Response): Promise<unknown> {
  let bytes = 0;
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error('the answer is too long');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}
