/** A store with two partners, and what counts and reports the business there. */
import type { Application } from '../../src/domain/application/fields.ts';
import type { ReportRow } from '../../src/subjects/business/rules/report-row.ts';
import { countEvents, countRefusals, countRegistrations } from '../../src/subjects/business/uses/count.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { lastBatchNumber } from '../support/batch-numbers.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

/** Call this at the top of a test file. */
export async function businessStore() {
  const store = await testDatabase();
  const { run, json } = commandLine(store);
  const partners: number[] = [];
  const keys: number[] = [];
  for (const [name, country] of [
    ['Acme', 'CO'],
    ['Bolt', 'MX'],
  ] as const) {
    const { id } = await json('partner', 'add', '--name', name, '--country', country);
    partners.push(id);
    keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
  }
  const register = await registrarOf(store);
  const context = { database: sessionsOf(store), clock: store.clock };
  const refusals = countRefusals();
  const places = async () => {
    const { rows } = await store.database.query(`
      SELECT p.next_batch::integer AS next, (SELECT count(*)::integer FROM business_offers) AS offers,
        (SELECT count(*)::integer FROM partner_event_totals t LEFT JOIN business_event_places m USING (partner_id)
          WHERE t.last >= coalesce(m.next_event, 0)) AS behind
      FROM business_place p`);
    return rows[0];
  };
  /** One turn of the upkeep. */
  const turn = async (database = context.database) => {
    await countRegistrations({ ...context, database });
    await countEvents({ ...context, database });
    await refusals({ database });
  };
  /** Turns until all is counted. */
  const count = async () => {
    for (;;) {
      await turn();
      const { next, offers, behind } = await places();
      if (next > (await lastBatchNumber(store.database)) && offers === 0 && behind === 0) return;
    }
  };
  const send = (partner: number, some: readonly Partial<Application>[]) =>
    register(
      keys[partner]!,
      some.map((changes) => applicant({ phone: null, ...changes })),
    );
  /** An event of applications, as its subject writes it. */
  const happened = (type: string, partner: number, ids: readonly number[]) =>
    store.database.query(
      `SELECT write_partner_events(array_fill($1::partner_event_type, ARRAY[cardinality($2::bigint[])]),
        array_fill($3::integer, ARRAY[cardinality($2::bigint[])]), $2, NULL, NULL, NULL, NULL, NULL)`,
      [type, ids, partners[partner]],
    );
  /** An offer was shown, with the evidence of it. */
  const offered = (id: number) =>
    store.database.query(
      `INSERT INTO contract_evidence (application_id, number, recorded_at, kind, facts, key_number, mac)
      SELECT $1, coalesce(max(e.number), 0) + 1, clock_timestamp(), 'offer_shown', '{}', 0, decode(repeat('00', 32), 'hex')
      FROM contract_evidence e WHERE e.application_id = $1`,
      [id],
    );
  const report = async (...options: string[]): Promise<ReportRow[]> =>
    JSON.parse((await run('report', ...options, '--json')).out);
  const recounted = async () => {
    const { code, out } = await run('report', '--recount', '--json');
    return { code, ...JSON.parse(out) };
  };
  return {
    store,
    run,
    json,
    partners,
    keys,
    context,
    turn,
    count,
    send,
    happened,
    offered,
    report,
    recounted,
  };
}
