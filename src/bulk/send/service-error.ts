/** The errors of the partners' client, as the command line tells them from its own. */
import { VentanillaError } from '../../../client/src/errors.ts';

/** True where the service refused the request, did not answer, or could not be reached. */
export function isServiceError(error: unknown): boolean {
  return error instanceof VentanillaError;
}
