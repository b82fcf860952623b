/** Measures the service's own CPU for an application, step by step, without HTTP, driver or database. */
import { namedFields } from '../src/domain/application/fields.ts';
import { toApplicationId } from '../src/domain/application/ids.ts';
import type { Outcome } from '../src/domain/application/read-application.ts';
import { readApplication } from '../src/domain/application/read-application.ts';
import { messageType } from '../src/domain/message/notify.ts';
import { toKeyId } from '../src/domain/partner/credential.ts';
import { cardOfContent } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import { Vault } from '../src/seal/vault.ts';
import { prepareBatch } from '../src/subjects/applications/sql/prepared-batch.ts';
import { candidateColumns } from '../src/subjects/applications/sql/registration-sql.ts';
import { readSubmittedBatch } from '../src/wire/contract/request.ts';
import { renderBatch } from '../src/wire/contract/response.ts';
import { faultTexts } from '../src/wire/contract/texts.ts';
import { bodies } from './applicants.ts';
import { type Bar, number } from './bars.ts';
import { median } from './phase.ts';

const CARD = cardOfContent(DEFAULT_POLICY);

const SIZE = 100;
const ROUNDS = 1_500;
/** The compiler needs some rounds before times are stable. */
const WARM_UP = 500;
const NAME = 'CPU of an application';

/** Measures unless `only` names something else, prints the steps, and returns the bar of their sum. */
export function benchCpu({ only }: { only: string }): Bar[] {
  const cpu = NAME.includes(only) ? measureCpu() : null;
  if (cpu !== null) {
    console.log(`\n${NAME}, the service's own code, microseconds`);
    for (const [name, microseconds] of Object.entries(cpu.steps)) {
      console.log(`  ${name.padEnd(30)}${number(microseconds, 2).padStart(6)}`);
    }
  }
  return [{ name: NAME, figure: cpu?.total ?? null, direction: 'at most', bound: 10, unit: 'microseconds' }];
}

/** Median microseconds an application, by step and for all steps together. */
function measureCpu(): { steps: Record<string, number>; total: number } {
  const vault = new Vault({
    dataKeys: new Map([[1, Buffer.alloc(32, 1)]]),
    indexKey: Buffer.alloc(32, 2),
    apiKeyPepper: Buffer.alloc(32, 3),
  });
  const fields = namedFields('messaging');
  const faultText = faultTexts(fields);
  const nextBody = bodies(SIZE, 0);
  const times: Record<string, number[]> = {};
  const step = <T>(name: string, work: () => T): T => {
    const start = performance.now();
    const result = work();
    times[name] ??= [];
    times[name].push(((performance.now() - start) * 1000) / SIZE);
    return result;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const body = nextBody();
    step('total', () => {
      const { elements } = step('parse', () => readSubmittedBatch(body));
      const candidates = step('normalise, validate, score', () =>
        elements.map((element, position) => {
          const reading = readApplication(element, fields, 'CO');
          if (reading.kind !== 'valid') throw new Error('an example is not valid');
          const { application } = reading;
          const assessment = CARD.decide(application);
          const type = messageType(application, assessment.decision);
          return { position, application, assessment, messageType: type };
        }),
      );
      const batch = step('index and seal', () =>
        prepareBatch(vault, { keyId: toKeyId(1), policyId: 1 }, candidates, null),
      );
      step('encode parameters', () => candidateColumns(batch.candidates));
      step('render the answer', () => {
        const outcomes = candidates.map(({ application, assessment }, id): Outcome => {
          const { id_number: idNumber, name } = application;
          const { score, decision } = assessment;
          return { kind: 'registered', idNumber, name, id: toApplicationId(id), score, decision };
        });
        return renderBatch(outcomes, 'en', 'PRO', faultText);
      });
    });
  }
  const medians = Object.entries(times).map(
    ([name, values]) => [name, median(values.slice(WARM_UP))] as const,
  );
  const { total, ...steps } = Object.fromEntries(medians) as Record<string, number>;
  return { steps, total: total as number };
}
