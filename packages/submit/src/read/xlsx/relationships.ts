/** The relationships of a part to other parts of an XLSX file (ECMA-376, part 2, 6.5). */
import { posix } from 'node:path';
import { readAll } from './xml.ts';
import type { Archive } from './zip.ts';

export interface Relationship {
  readonly id: string;
  /** The last word of its type: strict and transitional files write different words before it. */
  readonly type: string;
  /** The whole name of the part that it leads to. */
  readonly part: string;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The relationships of the part `source` to parts of the file; those of the file itself where `source` is empty. */
export async function relationshipsOf(archive: Archive, source: string): Promise<Relationship[]> {
  const { dir, base } = posix.parse(source);
  const found: Relationship[] = [];
  const part = await archive.part(posix.join(dir, '_rels', `${base}.rels`), MAX_BYTES);
  await readAll(part, (name, { Id = '', Type = '', Target = '', TargetMode }) => {
    if (name !== 'Relationship' || TargetMode === 'External') return;
    const path = posix.resolve('/', dir, Target.replaceAll('\\', '/'));
    found.push({ id: Id, type: posix.basename(Type), part: path.slice(1) });
  });
  return found;
}
