/** Reads the text and the code of a refusal. The text of an answer is null where it was too long to read. */

/** The most characters that are quoted of a refusal's text. */
const MAX_QUOTED = 300;

/** The service's own text in a refusal, and its code, which an older service does not have. */
interface Refusal {
  readonly error: string;
  readonly code: string | null;
}

/** The text of the service's refusal, without the API key, which a server might echo. */
export function quote(refusal: Refusal | null, apiKey: string): string {
  return refusal === null ? '' : `, ${plain(refusal.error).replaceAll(apiKey, '***').slice(0, MAX_QUOTED)}`;
}

/** The refusal in an answer; null where it is of another server, such as a proxy. */
export function refusalIn(text: string | null): Refusal | null {
  if (text === null) return null;
  try {
    const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown };
    return typeof error === 'string' ? { error, code: isWord(code) ? code : null } : null;
  } catch {
    return null;
  }
}

/** Whether a value has the form of a code. Another server might send anything, also the API key. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z_]{1,64}$/.test(value);
}

/** The text without control characters, which could deceive the reader of a terminal or a log. */
function plain(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}
