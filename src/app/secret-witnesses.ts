/**
 * The searches of all subjects for stored data that depends on a secret. By these the start finds out whether the configured
 * secrets are those that the data needs.
 */
import { hasBatches, sealedBatches } from '../applications/sql/secret-witnesses.ts';
import { sealedEndpoints } from '../events/push/sql/endpoint-settings.ts';
import { hasSuppressions } from '../messages/sql/suppressions.ts';
import { hasKeys } from '../partners/sql/api-keys.ts';
import type { Witnesses } from '../seal/witness.ts';

export const WITNESSES: Witnesses = {
  indexKey: [hasBatches, hasSuppressions],
  apiKeyPepper: [hasKeys],
  dataKeys: [
    // A few rows, so they are searched first.
    sealedEndpoints,
    sealedBatches,
  ],
};
