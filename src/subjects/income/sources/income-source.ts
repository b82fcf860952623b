/**
 * The interface of an income source (docs/income.md, "Sources"). A source may take time. A provider may also need
 * something from the person: a link to a bank, or the code that the bank sent.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Holder } from '../../../domain/document/holder.ts';
import type { Observation } from '../rules/judge-income.ts';

/** What a source is asked for. */
export interface IncomeRequest {
  readonly applicationId: ApplicationId;
  readonly currency: string;
}

/** What was observed, and what observed it. */
export interface Observed {
  readonly kind: 'observed';
  readonly observations: readonly Observation[];
  /** How sure the source is, from 0 to 1. */
  readonly confidence: number;
  /** The source and its version, for the evidence. */
  readonly reader: string;
  /** Whose the account is, as the source says; null: the holder was compared before. */
  readonly holder: Holder | null;
}

/**
 * What the person has to do before the source can go on: open `link`, which is for this person alone, or enter the code
 * that the bank sent. `resume` gets `session` back.
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
  /** The source is working: ask again after this time. */
  | { readonly kind: 'wait'; readonly retryAfterMs: number }
  /** The source has nothing: an operator decides. `reason` is a code. */
  | { readonly kind: 'nothing'; readonly reason: string };

export interface IncomeSource {
  readonly name: string;
  /** Throws only if the database fails. */
  observe(request: IncomeRequest, signal: AbortSignal): Promise<SourceAnswer>;
}

/** A source that may ask the person for something. */
export interface Provider extends IncomeSource {
  /**
   * Goes on after a step. `code`: what the person entered; null: the person has opened the link, or needs another link
   * or code. Never throws.
   */
  resume(
    request: IncomeRequest,
    session: string,
    code: string | null,
    signal: AbortSignal,
  ): Promise<SourceAnswer>;
}
