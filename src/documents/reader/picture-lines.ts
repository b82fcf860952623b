/** The text of a picture, guessed by OCR in Spanish and Portuguese. Runs in the reader's process alone. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { MOST_LINE_LENGTH, MOST_LINES, type ReadFault, type ReadText } from './reading.ts';

const LANGUAGES = ['spa', 'por'] as const;
/** Of the engine: its newer one alone, whose data is a quarter of the size. */
const LSTM_ONLY = 1;
const FAILED = 1;
/** Worse guesses are noise. */
const LEAST_CONFIDENCE = 0.3;

/** The part of the engine that is used. The package has no types. */
interface Engine {
  readonly FS: { writeFile(path: string, bytes: Uint8Array): void };
  readonly TessBaseAPI: new () => {
    Init(folder: null, languages: string, mode: number): number;
    SetVariable(name: string, value: string): void;
    SetImageFile(exifOrientation: number, angle: number): number;
    Recognize(monitor: null): number;
    GetUTF8Text(): string;
    MeanTextConf(): number;
  };
}

const require = createRequire(import.meta.url);

/** The lines of a picture, or why there are none. The engine loads its data from packages, never from a network. */
export async function pictureLines(bytes: Uint8Array): Promise<ReadText | { readonly fault: ReadFault }> {
  const load = require('tesseract.js-core/tesseract-core-simd-lstm') as (settings: object) => Promise<Engine>;
  const engine = await load({ print: () => {}, printErr: () => {} });
  for (const language of LANGUAGES) {
    const packed = require.resolve(
      `@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`,
    );
    engine.FS.writeFile(`./${language}.traineddata`, gunzipSync(readFileSync(packed)));
  }
  const api = new engine.TessBaseAPI();
  if (api.Init(null, LANGUAGES.join('+'), LSTM_ONLY) !== 0) throw new Error('the OCR does not start');
  api.SetVariable('preserve_interword_spaces', '1');
  engine.FS.writeFile('/input', bytes);
  if (api.SetImageFile(1, 0) === FAILED) return { fault: 'damaged' };
  api.Recognize(null);
  const lines = api
    .GetUTF8Text()
    .split('\n')
    .map((line) => line.trim().slice(0, MOST_LINE_LENGTH))
    .filter((line) => line !== '')
    .slice(0, MOST_LINES);
  const confidence = api.MeanTextConf() / 100;
  if (lines.length === 0 || confidence < LEAST_CONFIDENCE) return { fault: 'no_text' };
  return { method: 'ocr', pages: 1, lines, confidence };
}
