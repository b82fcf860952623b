/**
 * The series about conversations, documents and contracts whose numbers come from the store (docs/monitoring.md,
 * "/metrics"). Sets numbers in memory; `sql/store-facts.ts` reads them.
 */
import type { Gauge } from 'prom-client';
import { HOLDERS, STEPS } from '../../../domain/conversation/places.ts';
import type { ConversationFacts } from '../rules/conversation-facts.ts';
import type { Meters } from './meters.ts';

const DOCUMENT_STATES = ['received', 'accepted', 'rejected'] as const;

export class ConversationSeries {
  readonly #gauges: Readonly<Record<GaugeName, Gauge<string>>>;

  constructor(meters: Meters) {
    this.#gauges = Object.fromEntries(
      Object.entries(GAUGES).map(([name, [help, labels]]) => [name, meters.gauge(name, help, labels)]),
    ) as Record<GaugeName, Gauge<string>>;
  }

  /** Shows the facts of the store; null: its series are absent. */
  show(facts: ConversationFacts | null): void {
    this.#reset();
    if (facts === null) return;
    this.#showConversations(facts);
    const { replies, uncertain, documents, missingFiles, notRead, blocked, unfinished } = facts;
    const gauges = this.#gauges;
    gauges.replies.set({ status: 'queued' }, replies.queued);
    gauges.replies.set({ status: 'sending' }, replies.sending);
    gauges.replies.set({ status: 'uncertain' }, uncertain.replies);
    gauges.replies_oldest_seconds.set({ status: 'queued' }, replies.oldestS);
    gauges.replies_oldest_seconds.set({ status: 'uncertain' }, uncertain.oldestS);
    for (const state of DOCUMENT_STATES) {
      const found = documents.find((one) => one.state === state);
      gauges.documents.set({ state }, found?.documents ?? 0);
      gauges.documents_bytes.set({ state }, found?.bytes ?? 0);
    }
    gauges.documents_missing.set(missingFiles);
    gauges.documents_not_read.set(notRead);
    gauges.contracts_blocked.set({ reason: 'no_terms' }, 0);
    for (const { reason, applications } of blocked) gauges.contracts_blocked.set({ reason }, applications);
    gauges.contracts_unfinished.set(unfinished.contracts);
    gauges.contracts_unfinished_oldest_seconds.set(unfinished.oldestS);
  }

  #showConversations({ open, inputs, held, work }: ConversationFacts): void {
    const gauges = this.#gauges;
    for (const step of STEPS) for (const holder of HOLDERS) gauges.conversations.set({ step, holder }, 0);
    for (const { step, holder, conversations } of open)
      gauges.conversations.set({ step, holder }, conversations);
    gauges.conversation_inputs_waiting.set(inputs.waiting);
    gauges.conversation_inputs_oldest_seconds.set(inputs.oldestS);
    gauges.conversations_held.set({ reason: 'failure' }, 0);
    for (const { reason, conversations } of held) gauges.conversations_held.set({ reason }, conversations);
    gauges.conversations_held_oldest_seconds.set(Math.max(0, ...held.map(({ oldestS }) => oldestS)));
    for (const reason of ['none', 'scanner']) {
      gauges.conversation_work_waiting.set({ work: 'read_document', reason }, 0);
      gauges.conversation_work_oldest_seconds.set({ work: 'read_document', reason }, 0);
    }
    for (const one of work) {
      gauges.conversation_work_waiting.set({ work: one.work, reason: one.reason }, one.waiting);
      gauges.conversation_work_oldest_seconds.set({ work: one.work, reason: one.reason }, one.oldestS);
    }
  }

  #reset(): void {
    for (const [name, [, labels]] of Object.entries(GAUGES)) {
      const gauge = this.#gauges[name as GaugeName];
      gauge.reset();
      // Otherwise a gauge without labels would show a 0 that nobody has read from the store.
      if (labels.length === 0) gauge.remove();
    }
  }
}

type GaugeName = keyof typeof GAUGES;

const GAUGES = {
  conversations: ['Open conversations by step, and by who speaks.', ['step', 'holder']],
  conversation_inputs_waiting: ['What persons and others did, and no turn has taken yet.', []],
  conversation_inputs_oldest_seconds: ['How long the oldest of these inputs waits.', []],
  conversations_held: ['Conversations that wait for an operator, by why.', ['reason']],
  conversations_held_oldest_seconds: ['How long the oldest of these waits.', []],
  conversation_work_waiting: [
    'Work beside conversations that waits or is being done, by why the last try came to nothing.',
    ['work', 'reason'],
  ],
  conversation_work_oldest_seconds: ['How long ago the oldest of it was asked for.', ['work', 'reason']],
  replies: ['Replies to persons that wait, are on their way, or may not have arrived.', ['status']],
  replies_oldest_seconds: [
    'How long a person has waited for the oldest of these replies; of an uncertain one, since it is that.',
    ['status'],
  ],
  documents: ['Documents by state.', ['state']],
  documents_bytes: ['Bytes of the files of documents, before they are sealed.', ['state']],
  documents_missing: ['Documents whose file the upkeep did not find in the store.', []],
  documents_not_read: ['Documents that wait for an operator because the installation reads none.', []],
  contracts_blocked: [
    'Approved applications that get no contract until an operator mends something, by why.',
    ['reason'],
  ],
  contracts_unfinished: ['Signed contracts without their final PDF.', []],
  contracts_unfinished_oldest_seconds: ['How long ago the oldest of these was signed.', []],
} satisfies Readonly<Record<string, readonly [help: string, labels: readonly string[]]>>;
