/**
 * The one way from members to the names of JSON: code renames no member by hand, it says which names come out, and
 * `daily_cap` reads `dailyCap`. Pure. Commands use it, and replies of the operator API (`wire/operator/in-form`).
 */
import { withOffset } from './clock.ts';

/**
 * What comes out, in this order, and nothing else: names with a space between. `{ partner: 'id name' }` has the names
 * of an object, or of each object in a list. `{ brand: '*' }` lets a value out as it is: its own names are data.
 */
export type Names = string | readonly (string | { readonly [name: string]: Names })[];

/**
 * The value with the names of JSON; of a list each element; null stays null. A member that nobody named never comes
 * out, and an undefined one stays absent. `time` writes times. Throws `TypeError` where an object has no names.
 */
export function named<V, const N extends Names>(
  value: V,
  names: N & Fitting<V, N>,
  time: (time: Date) => string = withOffset,
): Named<V, N> {
  return written(value, read(names as Names), time) as Named<V, N>;
}

/** The names of an object; null: an object has none; `*`: anything comes out as it is. */
type Read = readonly { readonly name: string; readonly member: string; readonly inner: Read }[] | null | '*';

/** Once for a whole list. */
function read(names: Names): Read {
  if (names === '*') return names;
  const parts = typeof names === 'string' ? [names] : names;
  return parts.flatMap((part) =>
    typeof part === 'string'
      ? part.split(' ').map((name) => ({ name, member: camelCase(name), inner: null }))
      : Object.entries(part).map(([name, inner]) => ({ name, member: camelCase(name), inner: read(inner) })),
  );
}

function written(value: unknown, names: Read, time: (time: Date) => string): unknown {
  if (names === '*' || typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return time(value);
  if (Array.isArray(value)) return value.map((one) => written(one, names, time));
  if (names === null) throw new TypeError('an object comes out by its names alone');
  const members = value as Readonly<Record<string, unknown>>;
  const told: [string, unknown][] = [];
  for (const { name, member, inner } of names) {
    const one = Object.hasOwn(members, member) ? members[member] : undefined;
    if (one !== undefined) told.push([name, written(one, inner, time)]);
  }
  return Object.fromEntries(told);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The camelCase of a name; the empty text, which no member has, where the name has capitals. */
export type CamelCase<N extends string> = N extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : N extends Lowercase<N>
    ? N
    : '';

type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text & string;
type One<V> = V extends readonly (infer Element)[] ? One<Element> : NonNullable<V>;
type Member<V, K> = K extends string ? One<V>[CamelCase<K> & keyof One<V>] : never;
/** What a name alone lets out. */
type Plain = string | number | bigint | boolean | null | undefined | Date | readonly Plain[];

/** The names where all fit. A name does not where the value has no such member, or its object no names of its own. */
type Fitting<V, N> = N extends string
  ? [Unfit<V, Words<N>>] extends [never]
    ? N
    : { readonly 'does not fit': Unfit<V, Words<N>> }
  : N extends readonly unknown[]
    ? { readonly [I in keyof N]: Fitting<V, N[I]> }
    : { readonly [K in keyof N]: FittingInner<V, K, N[K]> };
type FittingInner<V, K, N> = K extends string
  ? CamelCase<K> extends keyof One<V>
    ? N extends '*'
      ? N
      : Fitting<Member<V, K>, N>
    : never
  : never;
type Unfit<V, K extends string> = K extends string
  ? CamelCase<K> extends keyof One<V>
    ? Member<V, K> extends Plain
      ? never
      : K
    : K
  : never;

type Named<V, N> = V extends null | undefined
  ? V
  : V extends readonly (infer Element)[]
    ? Named<Element, N>[]
    : { [K in NameOf<PartOf<N>>]: Written<Member<V, K>, InnerOf<PartOf<N>, K>> };
type PartOf<N> = N extends readonly (infer Part)[] ? Part : N;
type NameOf<Part> = Part extends string ? Words<Part> : keyof Part & string;
type InnerOf<Part, K> = Part extends string
  ? K extends Words<Part>
    ? null
    : never
  : K extends keyof Part
    ? Exclude<Part[K], undefined>
    : never;
type Written<M, N> = N extends '*' ? M : N extends null ? WrittenPlain<M> : Named<M, N>;
type WrittenPlain<M> = M extends Date ? string : M extends readonly (infer E)[] ? WrittenPlain<E>[] : M;
