/**
 * What `serve` and `worker` run for the vault: the steps of a reseal, and the counts of seals (docs/keys.md, "The data
 * key").
 */
import type { Logger } from 'pino';
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { SealMark } from '../../seal/data-keys.ts';
import { MOST_SEALS, type Vault } from '../../seal/vault.ts';
import type { SealedKind } from '../../seal/witness.ts';
import { resealTurn } from './uses/reseal-step.ts';

/** The jobs of one process. `kinds`: everything that data keys seal. */
export function vaultService(kinds: readonly SealedKind[]): Service {
  let isResealing = false;
  let marking: ((database: ServiceContext['database']) => Promise<void>) | null = null;
  return {
    upkeep: [
      {
        name: 'mark the sealing key',
        run: ({ database, vault, log }) => {
          marking ??= markingOf(vault, log);
          return marking(database);
        },
      },
      {
        // Runs beside the next turns of the upkeep, because a reseal takes minutes or hours.
        name: 'reseal',
        run: async (context) => {
          if (isResealing) return;
          isResealing = true;
          void resealOn(context, kinds).finally(() => {
            isResealing = false;
          });
        },
      },
    ],
  };
}

function markingOf(vault: Vault, log: Logger) {
  const mark = new SealMark(vault);
  const tell = sealLog(vault, log);
  return async (database: ServiceContext['database']) => tell(await mark.tell(database));
}

/** Takes the steps of a reseal until it is over, until no step is due here, or until the service stops. */
async function resealOn(context: ServiceContext, kinds: readonly SealedKind[]): Promise<void> {
  const { database, vault, clock, log, stopping, failed } = context;
  try {
    while (!stopping.aborted) {
      const turn = await resealTurn({ database, vault, clock, kinds });
      if (turn.kind === 'finished') {
        log.info({ data_key: vault.sealingKey.id }, 'everything is sealed with this data key');
      }
      if (turn.kind !== 'step') return;
      await clock.sleep(turn.restMs, { signal: stopping });
    }
  } catch (error) {
    if (!stopping.aborted) failed('a step of a reseal', error);
  }
}

/** From this share of the limit on, the log tells each further step. */
const TOLD_FROM = 0.5;
const STEP = 0.05;

/**
 * Makes the function that is told how often a key has sealed. The log tells half of the limit, and each further
 * twentieth, once for a process.
 */
export function sealLog(vault: Vault, log: Logger): (seals: number) => void {
  let told = TOLD_FROM - STEP;
  return (seals) => {
    const share = Math.floor(seals / MOST_SEALS / STEP) * STEP;
    if (share <= told + STEP / 2) return;
    told = share;
    const level = share >= 1 ? 'error' : 'warn';
    const facts = { data_key: vault.sealingKey.id, seals, most: MOST_SEALS };
    log[level](
      facts,
      'the data key has sealed much of what one key is good for: put a new key first in DATA_KEYS',
    );
  };
}
