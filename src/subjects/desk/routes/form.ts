/** Parts of the schemas of the desk's requests and replies. Pure. */
import { Type } from 'typebox';
import { form } from '../../../wire/operator/form.ts';

export { By, form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';

export const PartnerName = form({ id: Type.Integer(), name: Type.String() });
