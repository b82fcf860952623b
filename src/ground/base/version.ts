/** Reads the version of the program from package.json, and compares versions (Semantic Versioning). */
import { readFileSync } from 'node:fs';

/** The version in package.json. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version;
}

/** Whether a version comes after another one (Semantic Versioning). Text behind a hyphen does not count. */
export function isNewer(version: string, than: string): boolean {
  const [parts, others] = [numbersOf(version), numbersOf(than)];
  const index = parts.findIndex((part, place) => part !== others[place]);
  return index >= 0 && (parts[index] ?? 0) > (others[index] ?? 0);
}

function numbersOf(version: string): number[] {
  return version.split('-', 1)[0]!.split('.').map(Number);
}
