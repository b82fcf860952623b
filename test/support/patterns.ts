/** Finds the regular expressions of modules: the literals in their text, and those that they build while they load. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placeOf, REPOSITORY, type Source } from './sources.ts';

export interface Pattern {
  /** The file and the line. */
  readonly place: string;
  readonly pattern: RegExp;
}

/** A literal stands where a value begins; a division does not. */
const BEFORE_A_VALUE = /(?:^|[(,=:[!&|?{};]|\breturn|=>)\s*$/;

/** The literals of a module, which is formatted code. */
export function literalsOf({ path, text }: Source): Pattern[] {
  const found: Pattern[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:\/\/|\/?\*)/.test(line)) continue;
    for (let at = line.indexOf('/'); at >= 0; at = line.indexOf('/', at + 1)) {
      const pattern = BEFORE_A_VALUE.test(line.slice(0, at)) ? literalAt(line, at) : null;
      if (pattern === null) continue;
      found.push({ place: `${path}:${index + 1}`, pattern });
      at += pattern.source.length + 1;
    }
  }
  return found;
}

/** The literal that begins at a slash; null where there is none. */
function literalAt(line: string, start: number): RegExp | null {
  let inClass = false;
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === '[') inClass = true;
    else if (line[at] === ']') inClass = false;
    else if (line[at] === '/' && !inClass) {
      const flags = /^[dgimsuvy]*/.exec(line.slice(at + 1))?.[0] ?? '';
      return at === start + 1 ? null : compiled(line.slice(start + 1, at), flags);
    }
  }
  return null;
}

/** null for a text between two slashes, such as a path in a template. */
function compiled(source: string, flags: string): RegExp | null {
  try {
    return new RegExp(source, flags);
  } catch {
    return null;
  }
}

/** The expressions that modules build by `new RegExp` while `work` runs. */
export async function builtDuring(work: () => Promise<void>): Promise<Pattern[]> {
  const found: Pattern[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags]) {
      const pattern = new target(source, flags);
      const place = /\/((?:packages\/\w+\/)?src\/[^\s:)]+:\d+)/.exec(
        new Error('place').stack?.split('\n')[2] ?? '',
      )?.[1];
      if (place !== undefined) found.push({ place: place.replace(/^src\//, ''), pattern });
      return pattern;
    },
  });
  try {
    await work();
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}

export function load(path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(REPOSITORY, placeOf(path))).href);
}
