/**
 * Reads the record of operators' acts, verifies its chain of MACs (docs/audit.md, "The chain"), and compares it with
 * the activations of policies. Reads `operator_events` and `policy_activations` and writes nothing;
 * `program/operations` adds the rows of the record.
 */
import { timingSafeEqual } from 'node:crypto';
import { type ChainKeys, chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import {
  type ChainedEvent,
  type ChainHead,
  macOf,
  type OperatorEvent,
  readChainHead,
  readEventsAfter,
  readNewestEvents,
} from '../../../program/operations/sql/operator-events.ts';
import { listActivations } from '../../policies/sql/policies.ts';
import { ACTIVATION, type Mismatch, mismatchesOf } from '../rules/activations.ts';

export type { ChainHead };

const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;
const PAGE = 1_000;
const BEGINNING: ChainHead = { id: 0, mac: Buffer.alloc(32) };

/** The head of the chain as a text, to be kept outside of the store. */
export function headText({ id, mac }: ChainHead): string {
  return `${id}:${mac.toString('hex')}`;
}

/** Reads what `headText` wrote. Throws `OperatorError`. */
export function readHeadText(text: string): ChainHead {
  const [, id = '', mac = ''] = HEAD.exec(text.trim()) ?? [];
  if (id === '') throw new OperatorError('the head must be a value that audit head has printed');
  return { id: Number(id), mac: Buffer.from(mac, 'hex') };
}

/** The head of the chain, as the store remembers it. */
export function chainHead({ database }: Pick<OperatorContext, 'database'>): Promise<ChainHead> {
  return readChainHead(database);
}

/** The recorded acts, or those on an application, newest first, in bounded memory. */
export function listEvents(
  { database }: OperatorContext,
  applicationId: number | undefined,
): AsyncGenerator<OperatorEvent, void, undefined> {
  return readNewestEvents(database, applicationId ?? null);
}

/** Compares in constant time. Otherwise the time would help to guess a MAC byte by byte. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** A row that does not fit, and why. */
interface Misfit {
  readonly id: number;
  readonly fault: string;
}

export interface Verification {
  /** How many rows fit. */
  readonly events: number;
  /** The first misfits, by their ids; none if the record is intact. */
  readonly misfits: readonly Misfit[];
  /** How many misfits there are. */
  readonly misfitCount: number;
  /** The first activations of policies without an act, and acts without an activation. */
  readonly mismatches: readonly Mismatch[];
  readonly mismatchCount: number;
}

/** The most misfits and the most mismatches that are named. */
const MOST_NAMED = 100;

/**
 * Computes the chain again, in pages of bounded size. Compares it with the head that the store remembers, and with
 * `anchor`, a head that was kept outside. After a misfit it goes on: the next row has to follow that row as it is
 * stored, or the last one that fits. Then it compares the activations of policies with their acts. Commands may add
 * rows meanwhile.
 */
export async function verifyChain(
  { database, vault }: OperatorContext,
  anchor: ChainHead | null,
): Promise<Verification> {
  const heads = [await readChainHead(database), ...(anchor === null ? [] : [anchor])];
  // An activation that is made meanwhile has its act behind the end of the walk, or not: it is left out.
  const last = (await listActivations(database)).at(-1)?.id ?? 0;
  const acts: ChainedEvent[] = [];
  const walk = new Walk(chainKeysOf(vault), heads);
  for (let after = 0; ; after = walk.last.id) {
    const page = await readEventsAfter(database, after, PAGE);
    for (const event of page) {
      walk.take(event);
      if (event.act === ACTIVATION) acts.push(event);
    }
    if (page.length < PAGE) break;
  }
  const { id: end } = await readChainHead(database);
  walk.end(end);
  const { events, misfits, misfitCount } = walk;
  const mismatches = mismatchesOf(await listActivations(database), acts).filter(
    ({ activation }) => activation === null || activation <= last,
  );
  return {
    ...{ events, misfits, misfitCount },
    mismatches: mismatches.slice(0, MOST_NAMED),
    mismatchCount: mismatches.length,
  };
}

/** A walk along the chain, from its beginning. */
class Walk {
  readonly #keys: ChainKeys;
  readonly #heads: readonly ChainHead[];
  /** The last row; below it the last row that fits. */
  last = BEGINNING;
  #fitting: ChainHead & { readonly keyNumber: number } = { ...BEGINNING, keyNumber: 0 };
  events = 0;
  readonly misfits: Misfit[] = [];
  misfitCount = 0;

  constructor(keys: ChainKeys, heads: readonly ChainHead[]) {
    this.#keys = keys;
    this.#heads = heads;
  }

  take(event: ChainedEvent): void {
    const missing = event.id - this.last.id - 1;
    if (missing > 0) {
      const rows = missing === 1 ? 'the row is' : `this row and the ${missing - 1} after it are`;
      this.#tell(
        this.last.id + 1,
        `${rows} missing, so that nobody can tell whether the next one was changed`,
      );
    }
    const macs = [this.last, this.#fitting].map(({ mac }) => macOf(this.#keys, mac, event));
    const follows = macs.some((mac) => mac !== null && isEqual(mac, event.mac));
    const fault = this.#faultOf(event, macs.includes(null), follows || missing > 0);
    this.last = event;
    if (fault !== null) this.#tell(event.id, fault);
    if (fault !== null || !follows) return;
    this.#fitting = event;
    this.events += 1;
  }

  #faultOf(event: ChainedEvent, isKeyUnknown: boolean, mayFollow: boolean): string | null {
    if (event.keyNumber < this.#fitting.keyNumber)
      return 'the row was chained with an older key than the row before';
    if (isKeyUnknown) return 'the row was chained with a key of INDEX_KEY that is not given here';
    if (!mayFollow) return 'the row was changed or put in';
    if (this.#heads.some((head) => head.id === event.id && !isEqual(head.mac, event.mac)))
      return 'another row stood here: the rows from some place on were written again';
    return null;
  }

  /** Checks the end of the chain. `id`: the head's id that the store remembers now. */
  end(id: number): void {
    if (this.#heads.some((head) => head.id > this.last.id))
      this.#tell(this.last.id + 1, 'the row is missing: the chain was cut at its end');
    if (this.last.id > id) this.#tell(id + 1, 'the row was put in behind the end');
  }

  #tell(id: number, fault: string): void {
    this.misfitCount += 1;
    if (this.misfits.length < MOST_NAMED) this.misfits.push({ id, fault });
  }
}
