/** How conversations speak: the flow, the language, and the partner's name. The first turn reads these for good. */
import { toApplicationId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { type Flow, flowWith } from '../../../domain/conversation/flow.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { languageOfPhone } from '../rules/language.ts';
import { readSpeakers } from '../sql/begin.ts';
import { type ConversationId, type ConversationRow, type SetUp, setUp } from '../sql/conversations.ts';
import { flowIdOf, readFlows } from '../sql/flows.ts';
import type { Voice } from './turn-result.ts';

/** The flows of a store by version. Versions never change, so a process reads each once. */
export type FlowCache = Map<number, Flow>;
const MOST_FLOWS = 1_000;
/** A phone that cannot be read gets no message either. */
const UNREAD = { language: 'es', locale: 'es' } as const;

/**
 * The voices of conversations that the transaction has locked. One is absent at the first turn of a conversation whose
 * applicant is sealed with a data key that this process lacks.
 */
export async function readVoices(
  session: Transaction,
  { vault, flows }: { readonly vault: Vault; readonly flows: FlowCache },
  rows: readonly ConversationRow[],
): Promise<Map<ConversationId, Voice>> {
  const known = new Map<ConversationId, SetUp>();
  for (const { id, flow_id, language, locale, partner_name } of rows) {
    if (flow_id === null || language === null || locale === null || partner_name === null) continue;
    known.set(id, { id, flowId: flow_id, language, locale, partnerName: partner_name });
  }
  const fresh = await firstVoices(
    session,
    vault,
    rows.filter(({ id }) => !known.has(id)),
  );
  for (const one of fresh) known.set(one.id, one);
  await loadFlows(
    session,
    flows,
    [...known.values()].map(({ flowId }) => flowId),
  );
  return new Map(
    [...known.values()].map(({ id, flowId, language, locale, partnerName }) => [
      id,
      { flow: flows.get(flowId) ?? DEFAULT_FLOW, language, locale, partner: partnerName },
    ]),
  );
}

async function firstVoices(
  session: Transaction,
  vault: Vault,
  rows: readonly ConversationRow[],
): Promise<SetUp[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ application_id }) => toApplicationId(application_id));
  const speakers = await readSpeakers(session, vault, ids);
  // Most conversations of a turn have the same flow.
  const flowIds = new Map<string, number>();
  const made: SetUp[] = [];
  for (const { id, application_id } of rows) {
    const {
      brand = {},
      partnerName = '',
      phone = null,
      isKeyUnknown = false,
    } = speakers.get(toApplicationId(application_id)) ?? {};
    // What the first turn reads is for good, so a process reads it that can.
    if (isKeyUnknown) continue;
    const own = brand.conversation || {};
    const key = JSON.stringify(own);
    const flowId = flowIds.get(key) ?? (await flowIdOf(session, flowWith(DEFAULT_FLOW, own)));
    flowIds.set(key, flowId);
    made.push({
      ...{ id, flowId, ...(phone === null ? UNREAD : languageOfPhone(phone)) },
      partnerName: effectiveBrand(brand, partnerName).partner,
    });
  }
  await setUp(session, made);
  return made;
}

async function loadFlows(session: Transaction, flows: FlowCache, ids: readonly number[]): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => !flows.has(id));
  if (missing.length === 0) return;
  if (flows.size + missing.length > MOST_FLOWS) flows.clear();
  // A version from before a text was added has the default one.
  for (const [id, flow] of await readFlows(session, missing)) flows.set(id, flowWith(DEFAULT_FLOW, flow));
}
