/**
 * Answers that anybody can ask for: they go at a bounded pace (D37), and while they wait their connections give way.
 */
import type { EventEmitter } from 'node:events';
import type { Clock } from '../../ground/base/clock.ts';
import { AnonymousPace } from './anonymous-pace.ts';
import type { IncomingConnection } from './connection.ts';

interface PacedAnswer {
  readonly connection: IncomingConnection;
  /** Emits `close` when the client has left. */
  readonly client: EventEmitter;
  /** The latest time of the answer, on `Clock.monotonicMs`. */
  readonly deadline: number;
  send(): void;
  /** Makes the answer the last one of its connection. */
  makeLast(): void;
}

export class PacedAnswers {
  readonly #pace: AnonymousPace;

  constructor(clock: Clock) {
    this.#pace = new AnonymousPace(clock);
  }

  /** Sends the answer when its pace allows it, or when its connection gives way. */
  add({ connection, client, deadline, send, makeLast }: PacedAnswer): void {
    const go = () => {
      // The connection may give way from now on, because a client may leave its answer unread.
      connection.mayGiveWay();
      send();
    };
    if (!this.#pace.wait(deadline, go)) return;
    client.once('close', () => this.#pace.leave(go));
    connection.onGivingWay(() => {
      makeLast();
      this.#pace.leave(go);
    });
  }

  /** Sends all answers, also those to come: the listener closes. */
  end(): void {
    this.#pace.end();
  }
}
