/** A set that forgets its oldest members, so that it stays small. */
export class NewestSet<T> extends Set<T> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(member: T): this {
    super.add(member);
    if (this.size > this.#most) this.delete(this.values().next().value!);
    return this;
  }
}
