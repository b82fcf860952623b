/**
 * How `ventanilla application` shows applications, to people and as JSON to programs, with or without personal data.
 * Writes to the streams of `Io` alone. docs/operations.md ("Reviews and leads") has the rule.
 */
import { type CorrectedValue, isPersonalField } from '../../../domain/application/correction.ts';
import { type FieldName, NOTED_FIELDS } from '../../../domain/application/fields.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { type Io, writeNote } from '../../../program/cli/output.ts';
import { MASK } from '../../../program/cli/reveal.ts';
import type { Correction, StoredApplication } from '../uses/applications.ts';

/** The debt with its currency; null if it cannot be read. */
export function debtText({ decision, fields }: StoredApplication): string | null {
  return decision === null ? null : `${fields.debt_amount} ${fields.currency}`;
}

/** A value of a field as text. */
export function text(value: string | number | boolean | null): string | null {
  return value === null ? null : String(value);
}

/** An application for programs; its members have the names of the contract. */
export function applicationJson(application: StoredApplication) {
  const { isWrongPerson: wrongPerson, fields } = application;
  const own = named({ ...application, wrongPerson }, [
    'id created_at',
    { partner: 'id name' },
    'status decision score interested_at signed_at withdrawable_until wrong_person fault',
  ]);
  return { ...own, ...fields };
}

const PERSONAL: readonly FieldName[] = ['name', 'id_number', 'city', 'phone', ...NOTED_FIELDS];

/** The application without its personal data; what is absent stays absent. */
export function masked<A extends StoredApplication>(application: A): A {
  const fields = { ...application.fields };
  for (const name of PERSONAL) if (fields[name] !== null) fields[name] = MASK;
  return { ...application, fields };
}

/** Corrections without personal data; the amounts and other facts of the score are shown. */
export function maskedCorrections(corrections: readonly Correction[]): readonly Correction[] {
  const hidden = (value: CorrectedValue) => (value === null ? null : MASK);
  return corrections.map((one) =>
    one.values === null || !isPersonalField(one.field)
      ? one
      : { ...one, values: { before: hidden(one.values.before), after: hidden(one.values.after) } },
  );
}

/** Says whose data is hidden, because hidden data must not look like absent data. */
export function tellFaults(io: Io, ids: readonly ApplicationId[]): void {
  if (ids.length === 0) return;
  const some = ids.slice(0, 5).join(', ') + (ids.length > 5 ? ' …' : '');
  const whose = ids.length === 1 ? `application ${some}` : `${counted(ids.length, 'application')} (${some})`;
  writeNote(
    io,
    `The personal data of ${whose} cannot be shown. See docs/messages.md, "Personal data that does not open".\n`,
  );
  io.exitCode = 1;
}
