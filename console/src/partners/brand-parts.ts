/** Parts of a brand by their path, as a form reads and changes them (docs/brand.md). Pure. */
import type { Brand } from '../../../src/domain/partner/brand.ts';

export type Path = readonly string[];

type Parts = Readonly<Record<string, unknown>>;

const isParts = (value: unknown): value is Parts =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The part at a path; undefined: the brand leaves it out. */
export function partAt(brand: Brand, path: Path): unknown {
  return path.reduce<unknown>((part, name) => (isParts(part) ? part[name] : undefined), brand);
}

/** The brand with another part at a path; undefined: it leaves the part out, and what is empty without it. */
export function withPart(brand: Brand, path: Path, value: unknown): Brand {
  return (changed(brand as Parts, path, value) ?? {}) as Brand;
}

function changed(parts: Parts, [name = '', ...rest]: Path, value: unknown): Parts | undefined {
  const before = parts[name];
  const after = rest.length === 0 ? value : changed(isParts(before) ? before : {}, rest, value);
  const { [name]: _, ...others } = parts;
  const all = after === undefined ? others : { ...parts, [name]: after };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** The same brand, each template as its parts: a text stands for its name. */
export function withTemplateParts(brand: Brand): Brand {
  return Object.entries(brand.templates ?? {}).reduce(
    (so, [kind, template]) =>
      typeof template === 'string' ? withPart(so, ['templates', kind], { name: template }) : so,
    brand,
  );
}
