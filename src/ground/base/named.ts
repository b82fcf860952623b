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
  return written(value, names as Names, time) as Named<V, N>;
}

function written(value: unknown, names: Names | null, time: (time: Date) => string): unknown {
  if (names === '*' || typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return time(value);
  if (Array.isArray(value)) return value.map((one) => written(one, names, time));
  if (names === null) throw new TypeError('an object comes out by its names alone');
  const members = value as Readonly<Record<string, unknown>>;
  const told: [string, unknown][] = [];
  for (const part of typeof names === 'string' ? [names] : names) {
    const texts = typeof part === 'string' ? [part] : Object.keys(part);
    for (const [name, member] of texts.flatMap(membersOf)) {
      if (!Object.hasOwn(members, member) || members[member] === undefined) continue;
      const inner = typeof part === 'string' ? null : part[name]!;
      told.push([name, written(members[member], inner, time)]);
    }
  }
  return Object.fromEntries(told);
}

/** Lists are long, and the texts are constants of the program: each is read once. */
const READ = new Map<string, readonly (readonly [name: string, member: string])[]>();

function membersOf(text: string): readonly (readonly [name: string, member: string])[] {
  const read = READ.get(text) ?? text.split(' ').map((name) => [name, camelCase(name)] as const);
  READ.set(text, read);
  return read;
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
