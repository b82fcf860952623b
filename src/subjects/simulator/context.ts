/** What the simulator's page and its requests work with. */
import type { Database } from '../../ground/postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Simulator } from './channel.ts';

export interface SimulatorContext {
  readonly database: Database;
  readonly vault: Vault;
  /** Reports what people do on the page as channel events. */
  readonly simulator: Simulator;
}
