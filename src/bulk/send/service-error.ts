/** The errors of the partners' client, as the command line tells them from its own. */
import { VentanillaError } from '../../../client/src/errors.ts';
import { describeError } from '../../base/describe-error.ts';
import { ToldError } from '../../base/told-error.ts';

/**
 * Resolves as `work` does. Throws `ToldError` where the service refused the request, did not answer, or could not be
 * reached: then neither the command nor the program is wrong.
 */
export async function tellingOfService<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof VentanillaError) throw new ToldError(describeError(error), { cause: error });
    throw error;
  }
}
