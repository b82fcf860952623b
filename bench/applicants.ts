/** Bodies for the load: realistic applicants, each with a phone that no other request has. */
import { readFileSync } from 'node:fs';
import { namedFields } from '../src/domain/fields.ts';
import { readApplication } from '../src/domain/read-application.ts';

const BATCH = new URL('../examples/batch.json', import.meta.url);
/** Room for every phone of a long run; `stream` keeps phases apart. */
const PHONE = '+57300000000000';
const SERIAL_DIGITS = 11;

/** The valid applications of the example batch, by a Colombian partner. */
export function exampleApplications(): Record<string, unknown>[] {
  const { applications } = JSON.parse(readFileSync(BATCH, 'utf8')) as { applications: unknown[] };
  const fields = namedFields('messaging');
  return applications.filter((element) => readApplication(element, fields, 'CO').kind === 'valid') as Record<
    string,
    unknown
  >[];
}

/** Makes bodies of `size` applications. Each call returns the same buffer with new phones written into it. */
export function bodies(size: number, stream: number): () => Buffer {
  const examples = exampleApplications();
  const applications = Array.from({ length: size }, (_, index) => ({
    ...examples[index % examples.length],
    phone: PHONE,
  }));
  const body = Buffer.from(JSON.stringify({ applications }));
  const offsets: number[] = [];
  for (let at = body.indexOf(PHONE); at >= 0; at = body.indexOf(PHONE, at + 1)) {
    offsets.push(at + PHONE.length);
  }
  let serial = stream * 10_000_000;
  return () => {
    for (const end of offsets) {
      let rest = serial++;
      for (let digit = 1; digit <= SERIAL_DIGITS; digit += 1) {
        body[end - digit] = 48 + (rest % 10);
        rest = Math.floor(rest / 10);
      }
    }
    return body;
  };
}
