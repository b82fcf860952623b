/** Finds the files that a compiled program loads. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const IMPORT =
  /\bfrom\s*['"]([^'"\s]+)['"]|\bimport\s*['"]([^'"\s]+)['"]|\bimport\s*\(\s*['"]([^'"\s]+)['"]/g;

/** The files that the entries import, by any number of steps, and the packages that these files import. */
export function reached(...entries) {
  const files = new Set(entries);
  const packages = new Set();
  // A set hands out what is added during the loop.
  for (const file of files) {
    for (const match of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const specifier = match[1] ?? match[2] ?? match[3];
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.add(/^(@[^/]+\/)?[^/]+/.exec(specifier)[0]);
    }
  }
  return { files, packages };
}
