/** Turns refusals of the uses of policies into answers of HTTP. Pure. */
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { Answer } from '../../../wire/operator/route.ts';
import { PolicyRefusal } from '../uses/refusal.ts';

/** The answer of the work, or of its refusal. An `OperatorError` is a fault of the body. */
export async function answered<Reply>(work: () => Promise<Answer<Reply>>): Promise<Answer<Reply>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperatorError) return { status: 400, body: { error: `body: ${error.message}` } };
    if (!(error instanceof PolicyRefusal)) throw error;
    return { status: error.status, body: { ...error.facts, error: error.message } };
  }
}
