/** The text of a picture, guessed by OCR. Runs in the reader's process alone. */
import { exifOrientation } from './exif-orientation.ts';
import { openOcr } from './ocr.ts';
import { boundLines, type ReadFault, type ReadText } from './reading.ts';

/** The lines of a picture, or why there are none. */
export async function pictureLines(bytes: Uint8Array): Promise<ReadText | { readonly fault: ReadFault }> {
  const ocr = await openOcr();
  const guess = ocr(bytes, exifOrientation(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
  if (guess === 'damaged') return { fault: 'damaged' };
  if (guess === 'noise') return { fault: 'no_text' };
  return { method: 'ocr', pages: 1, lines: boundLines(guess.lines), confidence: guess.confidence };
}
