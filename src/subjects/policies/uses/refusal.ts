/** The error by which the uses of policies refuse what an operator with an account asks for. Pure. */
import type { PolicyConflict } from '../rules/proposal.ts';

/** The request is not carried out. The operator reads the message as it is. */
export class PolicyRefusal extends Error {
  override readonly name = 'PolicyRefusal';
  readonly status: 403 | 404 | 409;
  /** More fields of the answer's body, such as who did what; of a 409 the code. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    why: 403 | 404 | PolicyConflict,
    message: string,
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    const isConflict = typeof why === 'string';
    this.status = isConflict ? 409 : why;
    this.facts = isConflict ? { code: why, ...facts } : facts;
  }
}
