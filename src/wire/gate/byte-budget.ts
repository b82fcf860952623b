/**
 * Shares the memory for large bodies among all that are under way, on every route (D37; ARCHITECTURE, "A request's
 * way"). Touches its clock alone.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { UnavailableError } from '../../ground/base/registration-failure.ts';

/** How long a body waits if the budget is used up, and how long a body may arrive before it can lose its bytes. */
export const WAIT_MS = 1_000;

/** The bytes that a body asks for, and the owner that they count for. */
export interface Reservation {
  /** One owner gets at most `share` of the budget, so that no owner can take all of it. */
  readonly owner: string;
  /** From 0 to 1. */
  readonly share: number;
  readonly bytes: number;
  /** Ends a body that is not whole yet. The body then gives its bytes back. */
  giveUp(error: UnavailableError): void;
}

/** The bytes that a body got. */
export interface Grant {
  /** Call this when the body is whole. From then on no other body can take its bytes. */
  whole(): void;
  giveBack(): void;
}

interface HeldBytes {
  readonly reservation: Reservation;
  readonly since: number;
  arriving: boolean;
}

interface WaitingBody {
  readonly reservation: Reservation;
  grant(grant: Grant): void;
}

/** Grants bytes to bodies, within the whole budget and the share of each owner. */
export class ByteBudget {
  readonly #size: number;
  readonly #clock: Clock;
  #free: number;
  readonly #byOwner = new Map<string, number>();
  /** The longest held first. */
  readonly #held = new Set<HeldBytes>();
  readonly #waiting = new Set<WaitingBody>();

  constructor(bytes: number, clock: Clock) {
    this.#size = bytes;
    this.#clock = clock;
    this.#free = bytes;
  }

  /**
   * Resolves when the bytes are free: at once, when other bodies give theirs back, or in place of the body that has
   * been arriving the longest. Rejects with `UnavailableError` if no bytes get free within `WAIT_MS`.
   */
  reserve(reservation: Reservation): Promise<Grant> {
    if (this.#fits(reservation)) return Promise.resolve(this.#hold(reservation));
    return new Promise((resolve, reject) => {
      const waiting = {
        reservation,
        grant: (grant: Grant) => {
          timer.cancel();
          resolve(grant);
        },
      };
      const askedMs = this.#clock.monotonicMs();
      const timer = this.#clock.after(WAIT_MS, () => {
        this.#takeFromSlowest(reservation.owner, askedMs);
        if (this.#waiting.delete(waiting)) reject(new UnavailableError('too many large bodies at once'));
      });
      this.#waiting.add(waiting);
    });
  }

  #fits({ owner, share, bytes }: Reservation): boolean {
    return bytes <= this.#free && (this.#byOwner.get(owner) ?? 0) + bytes <= share * this.#size;
  }

  #hold(reservation: Reservation): Grant {
    const held: HeldBytes = { reservation, since: this.#clock.monotonicMs(), arriving: true };
    this.#held.add(held);
    this.#move(reservation, reservation.bytes);
    return {
      whole: () => {
        held.arriving = false;
      },
      giveBack: () => {
        if (!this.#held.delete(held)) return;
        this.#move(reservation, -reservation.bytes);
        for (const waiting of this.#waiting) {
          if (!this.#fits(waiting.reservation)) continue;
          this.#waiting.delete(waiting);
          waiting.grant(this.#hold(waiting.reservation));
        }
      },
    };
  }

  #move({ owner }: Reservation, bytes: number): void {
    this.#free -= bytes;
    const held = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (held === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, held);
  }

  /**
   * Takes the bytes of a body that has been arriving since `sinceMs` or longer. Prefers the owner's own bodies: if the
   * owner's share is used up, the bytes of other owners do not help.
   */
  #takeFromSlowest(owner: string, sinceMs: number): void {
    const slow = [...this.#held].filter(({ arriving, since }) => arriving && since <= sinceMs);
    const slowest = slow.find(({ reservation }) => reservation.owner === owner) ?? slow[0];
    slowest?.reservation.giveUp(
      new UnavailableError('the body came too slowly, and other large bodies wait'),
    );
  }
}
