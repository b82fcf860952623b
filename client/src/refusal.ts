/** Reads the text of a refusal. The text of an answer is null where it was too long to read. */

/** The most characters that are quoted of a refusal's text. */
const MAX_QUOTED = 300;

/** The text of the service's refusal, without the API key, which a server might echo. */
export function quote(text: string | null, apiKey: string): string {
  const error = refusalIn(text);
  return error === null ? '' : `, ${plain(error).replaceAll(apiKey, '***').slice(0, MAX_QUOTED)}`;
}

/** The service's own text in a refusal; null where the refusal is of another server, such as a proxy. */
export function refusalIn(text: string | null): string | null {
  if (text === null) return null;
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** The text without control characters, which could deceive the reader of a terminal or a log. */
function plain(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}
