/** The secrets before, during and after the rotation of the data key from 1 to 2. */
import { TEST_SECRETS } from './database.ts';

const [first, second] = [TEST_SECRETS.dataKeys.get(1)!, TEST_SECRETS.indexKey];
const secretsOf = (...keys: [number, Buffer][]) => ({ ...TEST_SECRETS, dataKeys: new Map(keys) });
export const OLD = secretsOf([1, first]);
export const NEW = secretsOf([2, second], [1, first]);
export const ONLY_NEW = secretsOf([2, second]);
