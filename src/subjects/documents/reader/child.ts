/**
 * The main file of the reader's process: gets a document on standard input and its type as the only argument, and
 * writes one JSON value to standard output. `reader.ts` starts one process for each document, and
 * `isolation.ts` says what the process may touch: no database, no network, no other file
 * (docs/documents.md, "The reader").
 */
import { machineClock } from '../../../ground/base/clock.ts';
import { type ReadFault, type ReadText, SCANNED_PDF } from './reading.ts';

const OCR_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

async function read(type: string): Promise<ReadText | { readonly fault: ReadFault }> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  const bytes = new Uint8Array(Buffer.concat(parts));
  if (type === 'application/pdf') return (await import('./pdf-lines.ts')).pdfLines(bytes);
  if (type === SCANNED_PDF) return (await import('./scan-lines.ts')).scanLines(bytes, machineClock);
  if (OCR_TYPES.includes(type)) return (await import('./picture-lines.ts')).pictureLines(bytes);
  return { fault: 'no_text' };
}

/** V8 and WebAssembly throw these if an array gets no memory. Any other error shows by how the process ends. */
function faultOf(error: unknown): { readonly fault: ReadFault } {
  if (error instanceof RangeError && /memory|allocation|array (?:buffer )?length/i.test(error.message)) {
    return { fault: 'reader_memory' };
  }
  throw error;
}

const answer = await read(process.argv[2] ?? '').catch(faultOf);
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
