/** The type of what the simulator's page and its requests work with. */
import type { Database } from '../../ground/postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Simulator } from './channel.ts';

export interface SimulatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** The channel, which reports what people do on the page. */
  readonly simulator: Simulator;
}
