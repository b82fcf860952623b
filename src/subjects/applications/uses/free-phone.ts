/**
 * Lifts a false duplicate: two phones with one blind index (docs/decisions/0006-one-row-a-batch.md). Writes the store
 * through `sql/application-marks.ts`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isOpen } from '../../../domain/application/lifecycle.ts';
import { foldPhone, isPhone, normalisePhone, typedPhone } from '../../../domain/phone/phone.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { freePhoneIndex } from '../sql/application-marks.ts';
import { readApplicationDetails } from '../sql/applications.ts';

/**
 * Frees the phone `text` (with its country code) of an applicant who was refused as a duplicate, if the open
 * application `id` has another phone with the same blind index. That application stays open and holds no phone any
 * more. Throws `OperatorError` if the two phones are the same, or their indexes differ.
 */
export async function freePhone(
  { database, vault, actor }: OperatorContext,
  id: ApplicationId,
  { phone: text, reason }: { phone: string; reason: string },
): Promise<void> {
  const why = checkReason(reason);
  const trimmed = typedPhone(text);
  // With a country code the country does not matter; CO stands for any country.
  const wanted = /^(\+|00)/.test(trimmed) ? normalisePhone(trimmed, 'CO') : null;
  if (wanted === null) throw new OperatorError('the phone must be a number with + and country code');
  const application = await readApplicationDetails(database, vault, id);
  if (application === null) throw new OperatorError(`there is no application ${id}`);
  const { status, fields } = application;
  if (status === null || !isOpen(status))
    throw new OperatorError(`application ${id} is not open: it holds no phone`);
  const own = fields.phone;
  if (typeof own !== 'string' || !isPhone(own)) {
    throw new OperatorError(`application ${id} has no phone that can be read, so nothing can be compared`);
  }
  if (foldPhone(own) === foldPhone(wanted)) {
    throw new OperatorError(`application ${id} has this phone: the new application is a duplicate`);
  }
  const index = phoneIndexOf(vault, own);
  if (index !== phoneIndexOf(vault, wanted)) {
    throw new OperatorError(
      `application ${id} does not hold this phone: look for it with application list --phone`,
    );
  }
  if (!(await freePhoneIndex(database, id, index, { actor, status, reason: why }))) {
    throw new OperatorError(`application ${id} does not hold this phone any more`);
  }
}
