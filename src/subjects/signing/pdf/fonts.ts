/** The fonts of contracts: DejaVu Sans, which has the letters of Latin, Greek and Cyrillic scripts, embedded. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const FILES = { regular: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf' } as const;

/** The bytes of both fonts. */
export type Fonts = Readonly<Record<keyof typeof FILES, Uint8Array>>;

let loaded: Promise<Fonts> | null = null;

/** Reads the fonts once a process. */
export function loadFonts(): Promise<Fonts> {
  loaded ??= read().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function read(): Promise<Fonts> {
  const { resolve } = createRequire(import.meta.url);
  const bytesOf = (name: string) => readFile(resolve(`dejavu-fonts-ttf/ttf/${name}`));
  const [regular, bold] = await Promise.all([bytesOf(FILES.regular), bytesOf(FILES.bold)]);
  return { regular, bold };
}
