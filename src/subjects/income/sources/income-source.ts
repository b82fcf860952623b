/**
 * Where observations of an income come from. A source may take time, and may need something of the person: a provider
 * asks for a link to a bank, or for the code that the bank sent.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Holder } from '../../../domain/document/holder.ts';
import type { Observation } from '../rules/judge-income.ts';

/** What a source is asked for. */
export interface IncomeRequest {
  readonly applicationId: ApplicationId;
  readonly currency: string;
}

/** What was observed, and by what. */
export interface Observed {
  readonly kind: 'observed';
  readonly observations: readonly Observation[];
  /** How sure the source is, from 0 to 1. */
  readonly confidence: number;
  /** The source and its version, for the evidence. */
  readonly reader: string;
  /** Whose the account is, as the source says; null: that was compared before. */
  readonly holder: Holder | null;
}

/**
 * What the person has to do before the source can go on: open `link`, which is theirs alone, or enter the code that
 * their bank sent. `resume` gets `session` back.
 */
export type NextStep =
  | {
      readonly kind: 'next_step';
      readonly step: 'open_link';
      readonly session: string;
      readonly link: string;
    }
  | { readonly kind: 'next_step'; readonly step: 'enter_code'; readonly session: string };

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
}

/** A source that may ask something of the person. */
export interface Provider extends IncomeSource {
  /**
   * Goes on from a step. `code`: what the person entered; null: the person has opened the link, or needs another link
   * or code. Never throws.
   */
  resume(
    request: IncomeRequest,
    session: string,
    code: string | null,
    signal: AbortSignal,
  ): Promise<SourceAnswer>;
}
