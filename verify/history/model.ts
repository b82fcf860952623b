/** A service that keeps every rule, in a few lines: it makes histories for the tests of the checker. */
import {
  type ApplicationStatus,
  INITIAL_STATUS,
  isOpen,
  type ReviewAction,
  TRANSITIONS,
} from '../../src/domain/application/lifecycle.ts';
import type { Decision } from '../../src/domain/scorecard/scorecard.ts';
import type * as H from './history.ts';
import { ModelDesk } from './model-desk.ts';

type OneBatch = Omit<H.Batch, 'calls'> & { calls: H.Call[]; outcomes: H.Outcome[] | null };
type OneApplication = Omit<H.StoredApplication, 'moves' | 'status'> & {
  moves: H.Move[];
  status: ApplicationStatus;
};

const WINDOW_MS = 24 * 3_600_000;

/** How the answer of a request ended. `lost`: the batch is stored, and no answer comes. */
export type Fate = 'answered' | 'lost' | 'refused';

const SCORES: Readonly<Record<Decision, number>> = { approved: 80, in_review: 60, rejected: 20 };
const CALL_MS = 10;

export class Model {
  readonly #batches: OneBatch[] = [];
  readonly #applications: OneApplication[] = [];
  readonly #messages: H.StoredMessage[] = [];
  readonly #events: H.StoredEvent[] = [];
  readonly #sends: (Omit<H.Send, 'isFailed'> & Pick<H.StoredMessage, 'type'>)[] = [];
  readonly #reviews: H.Review[] = [];
  readonly #optOuts: H.OptOut[] = [];
  readonly #partners: readonly H.Partner[];
  /** When the applications came, by the database's clock. */
  readonly #cameMs = new Map<number, number>();
  readonly #quota: H.QuotaReading[] = [];
  readonly #clockSteps: H.ClockStep[] = [];
  #nowMs = 0;
  #serial = 0;
  /** Its operators do nothing before the first registration. */
  readonly desk = new ModelDesk({
    at: (which) => this.#applications[which % this.#applications.length]!,
    move: (application, move) => this.#move(application as OneApplication, move),
    pass: (ms = 0) => {
      this.#nowMs += ms;
      return this.#pass();
    },
    reviews: this.#reviews,
  });

  constructor(caps: readonly (number | null)[]) {
    this.#partners = caps.map((cap, index) => ({ id: index + 1, cap, hasEndpoint: true, isNoted: true }));
  }

  /** Sends a batch of these applicants once; `place` is the partner's in the list of the caps. */
  submit(
    place: number,
    applicants: readonly { phone: number; decision: Decision | null; optin: boolean }[],
    fate: Fate,
  ): void {
    const { id: partnerId } = this.#partners[place]!;
    const applications = applicants.map(({ phone, optin, decision }) => {
      this.#serial += 1;
      return { idNumber: `10${this.#serial}`, phone: `+52${phone}`, optin, decision };
    });
    const batch: OneBatch = {
      partnerId,
      hasKey: true,
      applications,
      isAllNew: false,
      calls: [],
      outcomes: null,
    };
    this.#batches.push(batch);
    this.#send(batch, fate);
  }

  /** Sends an earlier batch again, if there is one. */
  resend(which: number): void {
    const batch = this.#batches[which % Math.max(1, this.#batches.length)];
    if (batch !== undefined) this.#send(batch, 'answered');
  }

  /** Reviews an earlier application, if there is one. */
  review(which: number, action: ReviewAction, fate: Fate): void {
    const application = this.#applications[which % Math.max(1, this.#applications.length)];
    if (application === undefined) return;
    const isAllowed = TRANSITIONS[action].from.includes(application.status) && fate !== 'refused';
    const end = !isAllowed ? 'refused' : fate === 'lost' ? 'unknown' : 'done';
    const time = this.#pass();
    const seen = end === 'done' ? { atMs: time.toMs, messageIds: [] } : null;
    this.#reviews.push({ operatorId: null, applicationId: application.id, action, ...time, end, seen });
    if (isAllowed) this.#move(application, { action, actor: 'ana', second: null });
  }

  #move(application: OneApplication, { action, actor, second }: Omit<H.Move, 'from' | 'to'>): void {
    const { to } = TRANSITIONS[action];
    const move = { action, from: application.status, to, actor, second };
    application.status = to;
    application.moves.push(move);
    const type = ({ approve: 'approved', reject: 'rejected', disburse: null } as const)[action];
    const offset = action === 'approve' ? 1n << 53n : 1n << 54n;
    if (type !== null) this.#tell(application, String(BigInt(application.id) + offset), type);
    const { partnerId } = application;
    const number = this.#events.filter((event) => event.partnerId === partnerId).length + 1;
    this.#events.push({
      ...{ partnerId, number, id: `evt_${partnerId}_${number}`, type: 'application.status_changed' },
      ...{ applicationId: application.id, from: move.from, to },
    });
  }

  /** The phone of an earlier application opts out, if there is one. */
  optOut(which: number): void {
    const application = this.#applications[which % Math.max(1, this.#applications.length)];
    if (application === undefined) return;
    const seen = { atMs: this.#pass().toMs, messageIds: [] };
    this.#optOuts.push({ phone: application.phone as string, seen });
  }

  /** Sets the database's clock this much ahead of the right time. */
  stepClock(aheadMs: number): void {
    this.#clockSteps.push({ ...this.#pass(), aheadMs });
  }

  /** A partner with a cap asks for its quota. */
  readQuota(place: number): void {
    const { id: partnerId, cap } = this.#partners[place]!;
    if (cap !== null) this.#quota.push({ partnerId, used: this.#used(partnerId), toMs: this.#pass().toMs });
  }

  /** Ends what is open. */
  history(): H.History {
    const of = (partnerId: number) => this.#events.filter((event) => event.partnerId === partnerId);
    const proposals = this.desk.end();
    const idNumberOf = (id: number) => this.#applications.find((one) => one.id === id)?.idNumber ?? null;
    return structuredClone({
      partners: this.#partners,
      batches: this.#batches.map(({ outcomes: _, ...batch }) => batch),
      reviews: this.#reviews,
      operators: this.desk.operators,
      deskActs: this.desk.acts,
      optOuts: this.#optOuts,
      quota: this.#quota,
      sends: this.#sends.map(({ messageId, phone, atMs }) => ({ messageId, phone, atMs, isFailed: false })),
      feeds: this.#partners.map(({ id }) => ({
        partnerId: id,
        events: of(id).map((event) => ({ ...event, idNumber: idNumberOf(event.applicationId) })),
      })),
      pushes: this.#partners.map(({ id }) => ({ partnerId: id, ids: of(id).map((event) => event.id) })),
      clockSteps: this.#clockSteps,
      store: { applications: this.#applications, proposals, messages: this.#messages, events: this.#events },
    });
  }

  #send(batch: OneBatch, fate: Fate): void {
    const time = this.#pass();
    if (fate === 'refused') {
      const answer = { status: 500, isReplay: false, digest: 'temporary', outcomes: null };
      batch.calls.push({ ...time, answer });
      return;
    }
    const isReplay = batch.outcomes !== null;
    batch.outcomes ??= batch.applications.map((application) => this.#register(batch.partnerId, application));
    const { outcomes } = batch;
    const answer = { status: 200, isReplay, digest: JSON.stringify(outcomes), outcomes };
    batch.calls.push({ ...time, answer: fate === 'lost' ? null : answer });
  }

  #register(partnerId: number, application: H.SentApplication): H.Outcome {
    const { phone, decision } = application;
    if (decision === null) return { kind: 'invalid' };
    const { cap } = this.#partners.find(({ id }) => id === partnerId)!;
    if (cap !== null && this.#used(partnerId) >= cap) return { kind: 'over_quota' };
    const isTaken = this.#applications.some((one) => one.phone === phone && isOpen(one.status));
    if (isTaken) return { kind: 'duplicate' };
    const id = 128 + this.#applications.length;
    const outcome = { id, score: SCORES[decision], decision, status: INITIAL_STATUS[decision] } as const;
    this.#applications.push({ ...application, ...outcome, partnerId, moves: [] });
    this.#cameMs.set(id, this.#databaseMs);
    const type = ({ approved: 'approved', in_review: 'offer', rejected: 'rejected' } as const)[decision];
    this.#tell(application, String(id), type);
    return { kind: 'registered', ...outcome };
  }

  /** Sends at once, where the applicant wants it and the phone may get it (D42). */
  #tell(
    { phone, optin }: Pick<OneApplication, 'phone' | 'optin'>,
    messageId: string,
    type: H.StoredMessage['type'],
  ): void {
    if (!optin) return;
    const got = this.#sends.filter((send) => send.phone === phone);
    const isStopped = this.#optOuts.some((one) => one.phone === phone);
    const rejections = got.filter((send) => send.type === 'rejected').length;
    const isOver = got.length >= 3 || (type === 'rejected' && rejections > 0);
    if (!isStopped && !isOver)
      this.#sends.push({ messageId, type, phone: phone as string, atMs: this.#nowMs });
    this.#messages.push({ messageId, type, status: isStopped || isOver ? 'cancelled' : 'accepted' });
  }

  get #databaseMs(): number {
    return this.#nowMs + (this.#clockSteps.at(-1)?.aheadMs ?? 0);
  }

  #used(partnerId: number): number {
    const since = this.#databaseMs - WINDOW_MS;
    return this.#applications.filter(
      (one) => one.partnerId === partnerId && this.#cameMs.get(one.id)! > since,
    ).length;
  }

  #pass(): { fromMs: number; toMs: number } {
    this.#nowMs += 2 * CALL_MS;
    return { fromMs: this.#nowMs - CALL_MS, toMs: this.#nowMs };
  }
}
