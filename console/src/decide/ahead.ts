/** The next application, claimed and read ahead of time, so that it opens at once. */
import type { QueryClient } from '@tanstack/react-query';
import { applicationQuery } from '../api/application.ts';
import { filtersOf } from '../api/filters.ts';
import { claimAhead, claimNext } from '../api/queue.ts';
import type { Claims } from './claims.ts';

export class Ahead {
  readonly #queries: QueryClient;
  readonly #claims: Claims;
  /** What got no answer may have claimed one: the next asking gets that one. */
  #lost: { readonly search: string; readonly key: string } | null = null;
  /** `search` has the filters; `id` is null where nothing is free. */
  #next: { readonly search: string; readonly id: Promise<number | null> } | null = null;

  constructor(queries: QueryClient, claims: Claims) {
    this.#queries = queries;
    this.#claims = claims;
  }

  /** Gets the next one ready, unless it is. */
  prepare(search: string): void {
    if (this.#next?.search === search) return;
    this.drop();
    const next = { search, id: this.#claimAndRead(search, claimAhead) };
    this.#next = next;
    // Where nothing was free, or the request failed, the next asking asks anew.
    const forget = () => {
      if (this.#next === next) this.#next = null;
    };
    next.id.then((id) => id === null && forget(), forget);
  }

  /** The next one, which is the asker's from now on; null: nothing is free. Throws what `claimNext` throws. */
  async take(search: string): Promise<number | null> {
    for (;;) {
      if (this.#next?.search !== search) this.drop();
      const ready = this.#next?.id;
      this.#next = null;
      const claim = () => this.#claimAndRead(search, claimNext);
      const id = await (ready?.catch(claim) ?? claim());
      // While the tab was hidden the claim may have ended, and another operator has it.
      if (id === null || this.#claims.stateOf(id).is === 'held') return id;
      this.#claims.forget(id);
    }
  }

  /** Gives the next one back. */
  drop(): void {
    this.#next?.id.then(
      (id) => id !== null && this.#claims.give(id),
      () => undefined,
    );
    this.#next = null;
  }

  async #claimAndRead(search: string, by: typeof claimNext): Promise<number | null> {
    const id = await this.#claim(search, by);
    if (id === null) return null;
    this.#claims.note(id);
    // A reading that fails is tried again by the page itself.
    await this.#queries.prefetchQuery(applicationQuery(this.#queries, String(id)));
    return id;
  }

  async #claim(search: string, by: typeof claimNext): Promise<number | null> {
    const key = this.#lost?.search === search ? this.#lost.key : crypto.randomUUID();
    this.#lost = null;
    try {
      return (await by(filtersOf(search), key)).id;
    } catch (error) {
      this.#lost = { search, key };
      throw error;
    }
  }
}
