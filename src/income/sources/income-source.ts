/**
 * Where observations of an income come from. A source may take time, and may need something of the person: a provider
 * asks for a link to a bank, or for the code that the bank sent.
 */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Observation } from '../rules/judge-income.ts';

/** What a source is asked for. */
export interface IncomeRequest {
  readonly applicationId: ApplicationId;
  readonly currency: string;
  /** What the source calls the person's account, where it has one: the id of a link. */
  readonly link: string | null;
}

/** What was observed, and by what. */
export interface Observed {
  readonly kind: 'observed';
  readonly observations: readonly Observation[];
  /** How sure the source is, from 0 to 1. */
  readonly confidence: number;
  /** The source and its version, for the evidence. */
  readonly reader: string;
}

/** What the person has to do before the source can go on; `resume` gets `session` back with the person's answer. */
export interface NextStep {
  readonly kind: 'next_step';
  readonly step: 'open_link' | 'enter_code';
  readonly session: string;
}

export type SourceAnswer =
  | Observed
  | NextStep
  /** The source is at it: ask again after this time. */
  | { readonly kind: 'wait'; readonly retryAfterMs: number }
  /** The source has nothing: an operator decides. `reason` is a code. */
  | { readonly kind: 'nothing'; readonly reason: string };

export interface IncomeSource {
  readonly name: string;
  /** Never throws but where the database fails. */
  observe(request: IncomeRequest, signal: AbortSignal): Promise<SourceAnswer>;
  /** Goes on after a next step with what the person entered. */
  resume(request: IncomeRequest, session: string, answer: string, signal: AbortSignal): Promise<SourceAnswer>;
}
