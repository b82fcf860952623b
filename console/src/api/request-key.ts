/** Idempotency keys of forms that an operator may send again. */

/** Gives a form its keys: the same request has the same key until `done`, and another request has another one. */
export class RequestKey {
  #request = '';
  #key = '';

  of(request: unknown): string {
    const text = JSON.stringify(request);
    if (text !== this.#request) {
      this.#request = text;
      this.#key = crypto.randomUUID();
    }
    return this.#key;
  }

  /** The request got through: what is sent next is another one, also with the same words. */
  done(): void {
    this.#request = '';
  }
}
