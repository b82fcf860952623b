/**
 * Writes and reads the draft of an answer. With the body of the request it makes the same answer again (D36), whatever
 * the policy and the settings are by then. It holds only what the body does not have, so no personal data: a request
 * with the same Idempotency-Key has the same bytes, or is refused. Pure; `encodeDraft` has the layout.
 */
import {
  FIELDS,
  type Field,
  type FieldName,
  type NamedField,
  type Rule,
} from '../../../domain/application/fields.ts';
import type { Outcome } from '../../../domain/application/read-application.ts';
import {
  echoedIdNumber,
  echoedName,
  type Fault,
  type Problem,
} from '../../../domain/application/read-application.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import type { Language } from '../../../ground/base/language.ts';

/** The outcome of an element before the registration. */
export type AssessedOutcome = Extract<Outcome, { kind: 'registered' | 'invalid' | 'not_an_object' }>;

/** The language, and the outcomes as if all candidates had registered. */
interface Draft {
  readonly language: Language;
  readonly outcomes: readonly AssessedOutcome[];
}

const LANGUAGES = ['en', 'es'] as const satisfies readonly Language[];
/** The kinds of elements: these two, and from then on the valid ones by decision. */
const NOT_AN_OBJECT = 0;
const INVALID = 1;
const VALID = 2;

const FIELD_LIST = FIELDS as readonly (Field & { readonly name: FieldName })[];
/** The bytes of faults in each layout, by the fields that it has room for: those of version 1.0, and all. */
const FAULT_BYTES = [12, FIELD_LIST.length].map((fields) => Math.ceil(fields / 2));
/**
 * The choices of the name in a fault: none, one of the field's names in the table, or a name made from the channel's
 * name (D6).
 */
const NAME_CHOICES = 5;
/** The problems that a value of each kind can have. A half byte has room for three. */
const PROBLEMS: Readonly<Record<Rule['kind'], readonly Problem[]>> = {
  text: ['required', 'text'],
  label: ['text'],
  phone: ['text', 'phone'],
  currency: [],
  amount: ['amount'],
  choice: ['choice'],
  consent: ['consent'],
  note: ['text'],
  instant: ['instant'],
};

/**
 * Layout: the language (1 byte), plus 2 if a fault is of a field that version 1.0 does not have; for each element its
 * kind (1 byte), and then the score of a valid one (1 byte) or the faults of an invalid one (half a byte a field); at
 * the end the names of faulty fields that depend on the channel's name (D6), one a line. A draft with another layout
 * has to begin with another byte.
 */
export function encodeDraft({ language, outcomes }: Draft): Buffer {
  const isNew = (fault: Fault) => FIELD_LIST.findIndex(({ name }) => name === fault.field) >= 12;
  const layout = outcomes.some((one) => one.kind === 'invalid' && one.faults.some(isNew)) ? 1 : 0;
  const faultBytes = FAULT_BYTES[layout]!;
  const bytes = Buffer.alloc(1 + outcomes.length * (1 + faultBytes));
  const channelNames: string[] = [];
  let end = bytes.writeUInt8(LANGUAGES.length * layout + LANGUAGES.indexOf(language));
  for (const outcome of outcomes) {
    switch (outcome.kind) {
      case 'not_an_object':
        end = bytes.writeUInt8(NOT_AN_OBJECT, end);
        break;
      case 'invalid':
        end = bytes.writeUInt8(INVALID, end);
        writeFaults(bytes.subarray(end, end + faultBytes), outcome.faults, channelNames);
        end += faultBytes;
        break;
      case 'registered':
        end = bytes.writeUInt8(VALID + DECISIONS.indexOf(outcome.decision), end);
        end = bytes.writeUInt8(outcome.score, end);
    }
  }
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(channelNames.join('\n'))]);
}

/** `elements` are those of the request with the same body. */
export function decodeDraft(
  draft: Buffer,
  elements: readonly unknown[],
  fields: readonly NamedField[],
): Draft {
  const first = draft.readUInt8();
  const language = LANGUAGES[first % LANGUAGES.length];
  const faultBytes = FAULT_BYTES[Math.floor(first / LANGUAGES.length)];
  if (language === undefined || faultBytes === undefined)
    throw new RangeError(`no draft begins with ${first}`);
  const starts: number[] = [];
  let end = 1;
  for (const _ of elements) {
    starts.push(end);
    end += draft[end] === NOT_AN_OBJECT ? 1 : draft[end] === INVALID ? 1 + faultBytes : 2;
  }
  const channelNames = draft.toString('utf8', end).split('\n');
  const outcomes = elements.map((element, index): AssessedOutcome => {
    const start = starts[index]!;
    const kind = draft.readUInt8(start);
    if (kind === NOT_AN_OBJECT) return { kind: 'not_an_object' };
    const source = element as Readonly<Record<string, unknown>>;
    const idNumber = echoedIdNumber(source, fields);
    if (kind === INVALID) {
      const faults = readFaults(draft.subarray(start + 1, start + 1 + faultBytes), channelNames);
      return { kind: 'invalid', idNumber, faults };
    }
    return {
      kind: 'registered',
      idNumber: idNumber ?? '',
      name: echoedName(source, fields),
      id: null,
      score: draft.readUInt8(start + 1),
      decision: DECISIONS[kind - VALID]!,
    };
  });
  return { language, outcomes };
}

/**
 * Half a byte a field: 0 without a fault, else 1 + the index of the problem * NAME_CHOICES + the choice of the name.
 */
function writeFaults(bytes: Buffer, faults: readonly Fault[], channelNames: string[]): void {
  for (const { field, name, problem } of faults) {
    const index = FIELD_LIST.findIndex((candidate) => candidate.name === field);
    const { rule } = FIELD_LIST[index]!;
    const names = namesInTable(index);
    let choice = name === null ? 0 : 1 + names.indexOf(name);
    if (name !== null && choice === 0) choice = 1 + names.length + indexIn(channelNames, name);
    const code = 1 + PROBLEMS[rule.kind].indexOf(problem) * NAME_CHOICES + choice;
    bytes[index >> 1]! |= index % 2 === 0 ? code : code << 4;
  }
}

function readFaults(bytes: Buffer, channelNames: readonly string[]): Fault[] {
  return FIELD_LIST.slice(0, 2 * bytes.length).flatMap(({ name: field, rule }, index) => {
    const code = index % 2 === 0 ? bytes[index >> 1]! & 15 : bytes[index >> 1]! >> 4;
    if (code === 0) return [];
    const choice = (code - 1) % NAME_CHOICES;
    const names = [...namesInTable(index), ...channelNames];
    return [
      {
        field,
        name: choice === 0 ? null : names[choice - 1]!,
        problem: PROBLEMS[rule.kind][Math.floor((code - 1) / NAME_CHOICES)]!,
      },
    ];
  });
}

function namesInTable(index: number): readonly string[] {
  const { name, aliases } = FIELD_LIST[index]!;
  return [name, ...aliases];
}

/** The index of a name in the list, to which a new name is added. */
function indexIn(list: string[], name: string): number {
  const choice = list.indexOf(name);
  return choice === -1 ? list.push(name) - 1 : choice;
}
