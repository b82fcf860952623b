/** Makes applicants for the load: realistic rows, with an ID number and a phone that are unique in a run. */
import { readFileSync } from 'node:fs';
import { namedFields } from '../src/domain/application/fields.ts';
import { readApplication } from '../src/domain/application/read-application.ts';

const BATCH = new URL('../examples/batch.json', import.meta.url);
/** Serial numbers for every applicant of a long run; with `PHONE` as many digits as Colombia has. */
const SERIAL_DIGITS = 10;
const PHONE = '+573';
const ID_NUMBER = '10';
/** The number of different names and amounts in the bodies of `bodies`. */
const POOL = 800;

const GIVEN_NAMES = [
  'Ana', 'José', 'María Fernanda', 'Luis', 'Camila', 'Sebastián', 'Óscar', 'Valentina', 'Jhon', 'Íngrid', 'Andrés',
]; // biome-ignore format: one list
const FAMILY_NAMES = [
  'Gómez', 'Núñez', 'de la Hoz', 'Huamán', 'Quispe', 'Rodríguez', 'Cárdenas', 'Peña', 'Zapata', 'Araya', 'Ibáñez',
  'Montes', 'Ocampo',
]; // biome-ignore format: one list

export type Applicant = Readonly<Record<string, string | number | boolean>>;

const EXAMPLES = exampleApplicants();

/** The valid applications of the example batch, by a Colombian partner. */
function exampleApplicants(): Applicant[] {
  const { applications } = JSON.parse(readFileSync(BATCH, 'utf8')) as { applications: unknown[] };
  const fields = namedFields('messaging');
  return applications.filter(
    (element) => readApplication(element, fields, 'CO').kind === 'valid',
  ) as Applicant[];
}

/** The applicant of a serial number from 0 on: an example with its own name, amounts, ID number and phone. */
export function applicant(serial: number): Applicant {
  const example = EXAMPLES[serial % EXAMPLES.length] as Applicant;
  const pick = (names: readonly string[], step: number) => names[Math.floor(serial / step) % names.length];
  const share = 0.8 + ((serial * 7) % 41) / 100;
  return {
    ...example,
    name: `${pick(GIVEN_NAMES, 1)} ${pick(FAMILY_NAMES, 1)} ${pick(FAMILY_NAMES, GIVEN_NAMES.length * FAMILY_NAMES.length)}`,
    id_number: `${ID_NUMBER}${digits(serial)}`,
    phone: `${PHONE}${digits(serial)}`,
    income: Math.round(Number(example.income) * share),
    debt_amount: Math.round(Number(example.debt_amount) * (2 - share)),
  };
}

function digits(serial: number): string {
  return String(serial).padStart(SERIAL_DIGITS, '0');
}

/**
 * Makes bodies of `size` applications; `stream` keeps phases apart. A body is valid until the next call: then its
 * buffer gets new ID numbers and phones.
 */
export function bodies(size: number, stream: number): () => Buffer {
  const templates = Array.from({ length: Math.ceil(POOL / size) }, (_, index) =>
    template(size, index * size),
  );
  let serial = stream * 10_000_000;
  let turn = 0;
  return () => {
    const { body, ends } = templates[turn++ % templates.length] as Template;
    for (const places of ends) {
      for (const end of places) writeDigits(body, end, serial);
      serial += 1;
    }
    return body;
  };
}

interface Template {
  readonly body: Buffer;
  /** The end of the digits of each applicant's serial number. */
  readonly ends: readonly (readonly number[])[];
}

function template(size: number, first: number): Template {
  const applicants = Array.from({ length: size }, (_, index) => applicant(first + index));
  const body = Buffer.from(JSON.stringify({ applications: applicants }));
  let at = 0;
  const ends = applicants.map(({ id_number, phone }) => {
    const start = at;
    const places = [id_number, phone].map((value) => {
      const found = body.indexOf(`"${value}"`, start);
      return found + `"${value}`.length;
    });
    at = Math.max(...places);
    return places;
  });
  return { body, ends };
}

function writeDigits(body: Buffer, end: number, serial: number): void {
  let rest = serial;
  for (let digit = 1; digit <= SERIAL_DIGITS; digit += 1) {
    body[end - digit] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
