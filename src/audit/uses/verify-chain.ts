/** Verifies the record of operators' acts, and reads it. */
import { timingSafeEqual } from 'node:crypto';
import { chainKeysOf } from '../../operations/chain-keys.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import {
  type ChainedEvent,
  type ChainHead,
  macOf,
  type OperatorEvent,
  readChainHead,
  readEventsAfter,
  readNewestEvents,
} from '../../operations/sql/operator-events.ts';

export type { ChainHead, OperatorEvent };

const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;
const PAGE = 1_000;
const BEGINNING: ChainHead = { id: 0, mac: Buffer.alloc(32) };

/** The end of the chain as a text, to be kept outside of the store. */
export function headText({ id, mac }: ChainHead): string {
  return `${id}:${mac.toString('hex')}`;
}

/** Reads what `headText` wrote. Throws `OperatorError`. */
export function readHeadText(text: string): ChainHead {
  const [, id = '', mac = ''] = HEAD.exec(text.trim()) ?? [];
  if (id === '') throw new OperatorError('the head must be a value that audit head has printed');
  return { id: Number(id), mac: Buffer.from(mac, 'hex') };
}

/** The end of the chain, as the store remembers it. */
export function chainHead({ database }: Pick<OperatorContext, 'database'>): Promise<ChainHead> {
  return readChainHead(database);
}

/** The recorded acts, or those on an application, newest first; memory is bounded. */
export function listEvents(
  { database }: OperatorContext,
  applicationId: number | undefined,
): AsyncGenerator<OperatorEvent, void, undefined> {
  return readNewestEvents(database, applicationId ?? null);
}

/** In constant time: the time of another comparison would help to find out a MAC byte by byte. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The first row that does not fit, and why. */
interface Misfit {
  readonly id: number;
  readonly fault: string;
}

interface Verification {
  /** Rows that fit. */
  readonly events: number;
  /** null where all rows fit. */
  readonly misfit: Misfit | null;
}

/**
 * Computes the chain again, in pages of bounded size, and compares it with the head that the store remembers and with
 * `anchor`, a head that was kept outside. Commands may add rows meanwhile.
 */
export async function verifyChain(
  { database, vault }: OperatorContext,
  anchor: ChainHead | null,
): Promise<Verification> {
  const heads = [await readChainHead(database), ...(anchor === null ? [] : [anchor])];
  const keys = chainKeysOf(vault);
  let last: ChainHead & { readonly keyNumber: number } = { ...BEGINNING, keyNumber: 0 };
  const stop = (fault: string, id = last.id + 1) => ({ events: last.id, misfit: { id, fault } });
  for (;;) {
    const page = await readEventsAfter(database, last.id, PAGE);
    for (const event of page) {
      if (event.id !== last.id + 1) return stop('the row is missing');
      if (event.keyNumber < last.keyNumber)
        return stop('the row was chained with an older key than the row before');
      const mac = macOf(keys, last.mac, event);
      if (mac === null) return stop('the row was chained with a key of INDEX_KEY that is not given here');
      if (!isEqual(mac, event.mac)) return stop('the row was changed or put in');
      if (heads.some((head) => head.id === event.id && !isEqual(head.mac, event.mac)))
        return stop('another row stood here: the rows from some place on were written again');
      last = event satisfies ChainedEvent;
    }
    if (page.length < PAGE) break;
  }
  if (heads.some(({ id }) => id > last.id)) return stop('the row is missing: the chain was cut at its end');
  const { id: end } = await readChainHead(database);
  if (last.id > end) return stop('the row was put in behind the end', end + 1);
  return { events: last.id, misfit: null };
}
