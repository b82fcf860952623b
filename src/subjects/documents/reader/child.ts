/**
 * The reader's process: a document on standard input, its type as the only argument, one JSON value on standard output.
 * `reader.ts` starts one for each document and limits it.
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

/** What V8 and WebAssembly say where an array gets no memory; anything else is told by the end of the process. */
function faultOf(error: unknown): { readonly fault: ReadFault } {
  if (error instanceof RangeError && /memory|allocation|array (?:buffer )?length/i.test(error.message)) {
    return { fault: 'reader_memory' };
  }
  throw error;
}

const answer = await read(process.argv[2] ?? '').catch(faultOf);
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
