/**
 * The reader's process: a document on standard input, its type as the only argument, one JSON value on standard output.
 * `reader.ts` starts one for each document and limits it.
 */
import type { ReadFault, ReadText } from './reading.ts';

const OCR_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

async function read(type: string): Promise<ReadText | { readonly fault: ReadFault }> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  const bytes = new Uint8Array(Buffer.concat(parts));
  if (type === 'application/pdf') return (await import('./pdf-lines.ts')).pdfLines(bytes);
  if (OCR_TYPES.includes(type)) return (await import('./picture-lines.ts')).pictureLines(bytes);
  return { fault: 'no_text' };
}

process.stdout.write(JSON.stringify(await read(process.argv[2] ?? '')), () => process.exit(0));
