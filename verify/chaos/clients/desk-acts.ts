/** What operators do at the desk (D48), each act repeated until its end is known, and noted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApplicationId, toApplicationId } from '../../../src/domain/application/ids.ts';
import type { ReviewAction } from '../../../src/domain/application/lifecycle.ts';
import type { OperatorContext } from '../../../src/program/operations/operator-context.ts';
import { lastEventOf } from '../../../src/subjects/applications/sql/desk/last-event.ts';
import { readProposal } from '../../../src/subjects/desk/sql/proposals.ts';
import { proposalFactsOf } from '../../../src/subjects/desk/uses/confirmations.ts';
import { actingAs } from '../../../src/subjects/desk/uses/desk-context.ts';
import {
  confirmProposal,
  declineProposal,
  undoProposal,
} from '../../../src/subjects/desk/uses/end-proposal.ts';
import { proposeOne } from '../../../src/subjects/desk/uses/propose-one.ts';
import { claim, dropClaim } from '../../../src/subjects/desk/uses/queue.ts';
import { Refusal } from '../../../src/subjects/desk/uses/refusal.ts';
import type { DeskAct } from '../../history/history.ts';
import { UNDO_SECONDS } from '../../history/rules/undone.ts';
import type { Recorder } from '../recorder.ts';

const AGAIN_MS = 100;
const DUE_HOURS = 24;
const REASON = 'the chaos run decides';
/** The longest faults take a minute or two. */
const END_WITHIN_MS = 10 * 60_000;

/** An act, as far as it is known before its end. */
type Doing = Pick<DeskAct, 'act' | 'operatorId' | 'applicationId'> &
  Partial<Pick<DeskAct, 'proposalId' | 'action'>>;

/** A proposal that was acknowledged. */
export interface Proposed {
  readonly id: number;
  readonly applicationId: number;
  readonly action: ReviewAction;
  readonly makerId: number;
  readonly fromMs: number;
  readonly needsSecond: boolean;
}

export class DeskActs {
  readonly #recorder: Recorder;
  readonly #context: OperatorContext;
  #serial = 0;

  constructor(recorder: Recorder, context: OperatorContext) {
    this.#recorder = recorder;
    this.#context = context;
  }

  /** Refused where somebody else has it, or it is not in review. */
  claim(operatorId: number, applicationId: number): Promise<DeskAct['end']> {
    const desk = { database: this.#context.database, dueHours: DUE_HOURS };
    return this.#do({ act: 'claim', operatorId, applicationId }, () =>
      claim(desk, idOf(applicationId), { operatorId, page: null }),
    );
  }

  release(operatorId: number, applicationId: number): Promise<DeskAct['end']> {
    return this.#do({ act: 'release', operatorId, applicationId }, () =>
      dropClaim(this.#context.database, idOf(applicationId), { operatorId, page: null }),
    );
  }

  /** null: it was refused. */
  async propose(
    makerId: number,
    applicationId: number,
    action: ReviewAction,
    undoSeconds = UNDO_SECONDS,
  ): Promise<Proposed | null> {
    const { database, vault } = this.#context;
    const desk = { database, vault, undoSeconds, dueHours: DUE_HOURS, terms: async () => null };
    const id = idOf(applicationId);
    const decision = {
      act: action,
      reasonCode: 'unspecified',
      reason: REASON,
      isOverride: false,
      lines: [],
    } as const;
    const key = `chaos ${++this.#serial}`;
    const lastEvent = await this.#untilKnown(() => lastEventOf(database, id));
    if (typeof lastEvent !== 'string') return null;
    const fromMs = this.#recorder.nowMs();
    const made = await this.#untilKnown(() =>
      proposeOne(desk, { ...decision, makerId }, { id, lastEvent }, key),
    );
    const proposal = made instanceof Refusal ? null : made.proposal;
    const doing = { act: 'propose', operatorId: makerId, applicationId, action } as const;
    this.#note(
      { ...doing, proposalId: proposal?.id ?? null },
      fromMs,
      proposal === null ? 'refused' : 'done',
    );
    if (proposal === null) return null;
    const needsSecond = proposal.needsSecond !== null;
    return { id: proposal.id, applicationId, action, makerId, fromMs, needsSecond };
  }

  /** By its maker. */
  undo(proposal: Proposed): Promise<DeskAct['end']> {
    const { database } = this.#context;
    const { id, makerId } = proposal;
    return this.#do(doingOf('undo', makerId, proposal), () =>
      undoProposal({ database }, { operatorId: makerId, page: null }, id),
    );
  }

  /** Refused for one's own, and where neither of the two has the authority. */
  confirm(operatorId: number, proposal: Proposed): Promise<DeskAct['end']> {
    const context = actingAs(this.#context, operatorId);
    return this.#do(doingOf('confirm', operatorId, proposal), async () => {
      const { database, vault } = context;
      const stored = await readProposal(database, proposal.id);
      const facts = await proposalFactsOf(
        { session: database, vault, terms: null },
        operatorId,
        stored === null ? [] : [stored],
      );
      const seen = facts.get(proposal.id)?.seen ?? '';
      return confirmProposal(context, { id: operatorId, isFresh: true }, proposal.id, {
        seen,
        terms: null,
      });
    });
  }

  /** Refused for one's own. */
  decline(operatorId: number, proposal: Proposed): Promise<DeskAct['end']> {
    const context = actingAs(this.#context, operatorId);
    return this.#do(doingOf('decline', operatorId, proposal), () =>
      declineProposal(context, { id: operatorId, isFresh: true }, proposal.id, REASON),
    );
  }

  async #do(doing: Doing, work: () => Promise<unknown>): Promise<DeskAct['end']> {
    const fromMs = this.#recorder.nowMs();
    const made = await this.#untilKnown(work);
    const isRefused = made instanceof Refusal;
    const end = !isRefused ? 'done' : made.facts.state === 'applied' ? 'late' : 'refused';
    this.#note(doing, fromMs, end);
    return end;
  }

  #note(doing: Doing, fromMs: number, end: DeskAct['end']): void {
    const toMs = this.#recorder.nowMs();
    this.#recorder.deskActs.push({ action: null, proposalId: null, ...doing, fromMs, toMs, end });
  }

  /** Again while the store is away: each act may be repeated. */
  async #untilKnown<T>(work: () => Promise<T>): Promise<T | Refusal> {
    const giveUpAtMs = this.#recorder.nowMs() + END_WITHIN_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Refusal) return error;
        if (this.#recorder.nowMs() > giveUpAtMs) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }
}

function idOf(applicationId: number): ApplicationId {
  return toApplicationId(String(applicationId));
}

function doingOf(act: DeskAct['act'], operatorId: number, { id, applicationId }: Proposed): Doing {
  return { act, operatorId, applicationId, proposalId: id };
}
