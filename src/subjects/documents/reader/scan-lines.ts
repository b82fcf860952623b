/**
 * Takes the text of a PDF whose pages are pictures, as scanners and phones make them: the largest picture of each page,
 * guessed by OCR. Runs only in the reader's process.
 */
import { getResolvedPDFJS } from 'unpdf';
import type { Clock } from '../../../ground/base/clock.ts';
import { type Ocr, openOcr } from './ocr.ts';
import { openPdf } from './pdf-lines.ts';
import { boundLines, type ReadFault, type ReadText } from './reading.ts';

/** A page of A4 at 400 dots an inch has 15.5 million. */
const MOST_PIXELS = 20_000_000;
/** A smaller picture is a logo. */
const LEAST_SIDE = 300;
/** Further pages are left out, because the text is only a hint. */
const MOST_PAGES = 5;
/** No page is begun after this time, because the process has a minute. */
const BEGIN_WITHIN_MS = 30_000;
/** The orientation of EXIF that turns a picture as `/Rotate` does. */
const EXIF_OF_ROTATION: Readonly<Record<number, number>> = { 0: 1, 90: 6, 180: 3, 270: 8 };

/** The lines of the pictures on the first pages, or why there are none. */
export async function scanLines(
  bytes: Uint8Array,
  clock: Clock,
): Promise<ReadText | { readonly fault: ReadFault }> {
  const beginUntil = clock.monotonicMs() + BEGIN_WITHIN_MS;
  const document = await openPdf(bytes, MOST_PIXELS);
  if ('fault' in document) return document;
  let ocr: Ocr | null = null;
  const lines: string[] = [];
  const confidences: number[] = [];
  const pages = Math.min(document.numPages, MOST_PAGES);
  for (let number = 1; number <= pages && clock.monotonicMs() < beginUntil; number += 1) {
    const page = await document.getPage(number);
    const picture = await largestPicture(page);
    if (picture !== null) {
      ocr ??= await openOcr();
      const guess = ocr(greyMap(picture), EXIF_OF_ROTATION[page.rotate] ?? 1);
      if (typeof guess !== 'string') {
        lines.push(...guess.lines);
        confidences.push(guess.confidence);
      }
    }
    page.cleanup();
  }
  if (lines.length === 0) return { fault: 'no_text' };
  return {
    method: 'ocr',
    pages: document.numPages,
    lines: boundLines(lines),
    confidence: Math.min(...confidences),
  };
}

/** A picture as pdf.js decodes it. `kind`: 1 is one bit for each pixel, 2 is RGB, 3 is RGBA. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly kind: number;
  readonly data: Uint8Array;
}

type Page = Awaited<ReturnType<Exclude<Awaited<ReturnType<typeof openPdf>>, { fault: unknown }>['getPage']>>;

async function largestPicture(page: Page): Promise<Picture | null> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const names = fnArray.flatMap((operator, index) =>
    operator === OPS.paintImageXObject ? [String(argsArray[index][0])] : [],
  );
  let largest: Picture | null = null;
  for (const name of new Set(names)) {
    const objects = name.startsWith('g_') ? page.commonObjs : page.objs;
    const picture = await new Promise<Picture | null>((resolve) => objects.get(name, resolve));
    if (!isPicture(picture)) continue;
    if (largest === null || picture.width * picture.height > largest.width * largest.height)
      largest = picture;
  }
  return largest;
}

function isPicture(picture: Picture | null): picture is Picture {
  return picture?.data != null && Math.min(picture.width, picture.height) >= LEAST_SIDE;
}

/** The picture as a PGM with one byte for each pixel, which the OCR reads directly. */
function greyMap({ width, height, kind, data }: Picture): Uint8Array {
  const head = Buffer.from(`P5 ${width} ${height} 255\n`);
  const map = Buffer.alloc(head.length + width * height);
  head.copy(map);
  const channels = kind === 3 ? 4 : 3;
  const rowBytes = Math.ceil(width / 8);
  for (let y = 0, at = head.length; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 1) {
      if (kind === 1) {
        const bits = data[y * rowBytes + (x >> 3)] ?? 0;
        map[at] = (bits >> (7 - (x & 7))) & 1 ? 255 : 0;
      } else {
        const pixel = (y * width + x) * channels;
        // The weights of ITU-R BT.601, in 256ths.
        map[at] = (77 * data[pixel]! + 150 * data[pixel + 1]! + 29 * data[pixel + 2]!) >> 8;
      }
    }
  }
  return map;
}
