/**
 * Reads XML in pieces and gives events without namespaces, because XLSX files write names with and without prefixes.
 */
import { SaxesParser } from 'saxes';
import { Fault } from '../bulk-error.ts';
import type { FileWords } from '../file-words.ts';

interface XmlEvents {
  /** Gets the name without its prefix, and the attributes as they are written. */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** The parser holds a text until its next tag, so this bounds memory. */
const MAX_BETWEEN_TAGS_BYTES = 8 * 1024 * 1024;

/** The parser remembers each open tag, so this bounds memory. XLSX is never this deep. */
const MAX_DEPTH = 256;
const NO_TAG: FileWords = {
  en: 'too long without a tag',
  es: 'demasiado largo sin una etiqueta',
  pt: 'longo demais sem uma tag',
};

/**
 * Reads XML and yields after each piece, so that the caller can use the events so far. Entities beyond XML's own five
 * are a fault. Throws `Fault`.
 */
export async function* readXml(bytes: AsyncIterable<Uint8Array>, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  parser.on('error', () => {
    throw new Fault({ en: 'not well-formed', es: 'mal formado', pt: 'malformado' });
  });
  let sinceTag = 0;
  let depth = 0;
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    depth += 1;
    if (depth > MAX_DEPTH)
      throw new Fault({ en: 'too deep', es: 'demasiado profundo', pt: 'profundo demais' });
    events.open?.(localName(name), attributes as Record<string, string>);
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    depth -= 1;
    events.close?.(localName(name));
  });
  if (events.text) {
    parser.on('text', (text) => events.text?.(text));
    parser.on('cdata', (text) => events.text?.(text));
  }
  for await (const chunk of bytes) {
    sinceTag += chunk.length;
    if (sinceTag > MAX_BETWEEN_TAGS_BYTES) throw new Fault(NO_TAG);
    parser.write(decode(decoder, chunk));
    yield;
  }
  parser.close();
  yield;
}

/** Reads the whole XML of a small part, or nothing where there is no part. Throws `Fault`. */
export async function readAll(
  bytes: AsyncIterable<Uint8Array> | null,
  open: NonNullable<XmlEvents['open']>,
): Promise<void> {
  if (bytes === null) return;
  for await (const _ of readXml(bytes, { open }));
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new Fault({ en: 'not UTF-8', es: 'no es UTF-8', pt: 'não é UTF-8' });
  }
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}
