/**
 * Guesses the text of pictures by OCR in Spanish and Portuguese, with data from installed packages. Runs only in the
 * reader's process.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';

const LANGUAGES = ['spa', 'por'] as const;
/** The mode of the engine: only its newer model, whose data is a quarter of the size. */
const LSTM_ONLY = 1;
const FAILED = 1;
/** Guesses below this confidence are noise. */
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

/** What was guessed. `damaged`: the picture cannot be decoded. `noise`: nothing that was guessed is worth a look. */
export type Guess = 'damaged' | 'noise' | { readonly lines: string[]; readonly confidence: number };

/** Guesses the text of a picture (PNG, JPEG, WebP or PNM), turned by an orientation of EXIF (1 to 8). */
export type Ocr = (bytes: Uint8Array, exifOrientation: number) => Guess;

const require = createRequire(import.meta.url);

/** Opens the engine. It loads its data from installed packages, never from a network. */
export async function openOcr(): Promise<Ocr> {
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
  return (bytes, exifOrientation) => {
    engine.FS.writeFile('/input', bytes);
    if (api.SetImageFile(exifOrientation, 0) === FAILED) return 'damaged';
    api.Recognize(null);
    const confidence = api.MeanTextConf() / 100;
    const text = api.GetUTF8Text().split('\n');
    const lines = text.map((line) => line.trim()).filter((line) => line !== '');
    return lines.length === 0 || confidence < LEAST_CONFIDENCE ? 'noise' : { lines, confidence };
  };
}
