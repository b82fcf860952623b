/** What was sent and what was answered, kept outside of the service and compared with the store. */

import type { PartnerId } from '../../src/partners/rules/credential.ts';
import type { Database } from '../../src/postgres/database.ts';
import { idNumberIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import type { Vault } from '../../src/seal/vault.ts';
import type { Promises } from './promises.ts';

export interface Partner {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
  readonly cap: number | null;
}

/** The end of a batch: the ids by ID number, refused for good, or unknown. */
export type End = ReadonlyMap<string, number> | 'refused' | 'unknown';

interface Row {
  readonly id: string;
  readonly partner_id: PartnerId;
  readonly phone_index: string | null;
  readonly id_number_index: string;
  readonly is_open: boolean;
}

const STORED = `
  SELECT id, partner_id, phone_index, id_number_index,
    status IN ('in_review', 'pending_signature') AS is_open
  FROM applications`;
const MESSAGES_OFF = `
  SELECT count(*)::integer AS count
  FROM (SELECT id FROM applications WHERE messaging_optin AND phone_index IS NOT NULL) a
  FULL JOIN messages m ON m.application_id = a.id
  WHERE a.id IS NULL OR m.application_id IS NULL`;

export class Ledger {
  readonly #batches: { partner: Partner; idNumbers: readonly string[]; end: End }[] = [];

  /** How a batch ended. */
  add(partner: Partner, applications: readonly { id_number: string }[], end: End): void {
    this.#batches.push({ partner, idNumbers: applications.map(({ id_number }) => id_number), end });
  }

  #capped(floods: readonly Partner[]): (Partner & { cap: number })[] {
    const partners = new Set([...this.#batches.map(({ partner }) => partner), ...floods]);
    return [...partners].filter((partner): partner is Partner & { cap: number } => partner.cap !== null);
  }

  get acknowledged(): number {
    return this.#batches.reduce((sum, { end }) => sum + (typeof end === 'string' ? 0 : end.size), 0);
  }

  /** Compares all batches with the store. `floods` are partners whose answers were not read: only their caps count. */
  async check(
    database: Database,
    vault: Vault,
    floods: readonly Partner[],
    promises: Promises,
  ): Promise<void> {
    const { rows } = await database.query<Row>(STORED);
    const stored = new Map<string, Row[]>();
    for (const row of rows)
      stored.set(row.id_number_index, [...(stored.get(row.id_number_index) ?? []), row]);
    const found = (idNumber: string) => stored.get(toBigint(idNumberIndexOf(vault, idNumber))) ?? [];
    const explained = new Set<string>();
    for (const { partner, idNumbers, end } of this.#batches) {
      const here = idNumbers.flatMap(found);
      for (const { id } of here) explained.add(id);
      if (end === 'refused') {
        promises.hold(
          'nothing',
          here.length === 0,
          () => `${here.length} of a refused batch of ${partner.name}`,
        );
      } else if (end === 'unknown') {
        const isWhole = here.length === 0 || here.length === idNumbers.length;
        promises.hold('whole', isWhole, () => `${here.length} of ${idNumbers.length} by ${partner.name}`);
      } else {
        for (const idNumber of idNumbers) {
          const ids = found(idNumber).map(({ id }) => Number(id));
          const acknowledged = end.get(idNumber);
          const expected = acknowledged === undefined ? [] : [acknowledged];
          const name = acknowledged === undefined ? 'nothing' : 'kept';
          const isRight = ids.length === expected.length && ids[0] === expected[0];
          promises.hold(name, isRight, () => `${partner.name}: acknowledged [${expected}], stored [${ids}]`);
        }
      }
    }
    for (const partner of this.#capped(floods)) {
      const count = rows.filter(({ partner_id }) => partner_id === partner.id).length;
      promises.hold('caps', count <= partner.cap, () => `${partner.name}: ${count} stored of ${partner.cap}`);
    }
    const flooding = new Set(floods.map(({ id }) => id));
    const strays = rows.filter(({ id, partner_id }) => !explained.has(id) && !flooding.has(partner_id));
    promises.hold('nothing', strays.length === 0, () => `${strays.length} that no partner sent`);
    checkPhones(rows, promises);
    const off = (await database.query(MESSAGES_OFF)).rows[0].count as number;
    promises.hold('messages', off === 0, () => `${off} lack a message or have one too many`);
  }
}

function checkPhones(rows: readonly Row[], promises: Promises): void {
  const open = rows.flatMap(({ phone_index, is_open }) =>
    is_open && phone_index !== null ? [phone_index] : [],
  );
  const twice = open.length - new Set(open).size;
  promises.hold('phones', twice === 0, () => `${twice} phones`);
}
