/**
 * What the service would refuse of a row, for readers of Portuguese: its own texts are in English and Spanish (D26).
 * Pure.
 */
import type { NamedField } from '../../../../src/domain/application/fields.ts';
import type { Fault } from '../../../../src/domain/application/read-application.ts';
import { BULK_FIELDS, fieldNamed } from './columns.ts';

/** The text of a fault. */
export function faultInPortuguese({ field, problem }: Pick<Fault, 'field' | 'problem'>): string {
  const { name, rule } = fieldNamed(field, BULK_FIELDS) as NamedField;
  switch (problem) {
    case 'required':
      return `${name} é obrigatório`;
    case 'amount':
      return `${name} é obrigatório e deve ser > 0 (numérico)`;
    case 'choice':
      return `${name} é obrigatório e deve ser um de: ${'values' in rule ? rule.values.join(', ') : ''}`;
    case 'consent':
      return `${name} é obrigatório e deve ser true ou false`;
    case 'phone':
      return `${name} deve ser um número com código do país`;
    case 'text':
      return `${name} deve ser um texto de no máximo ${'max' in rule ? rule.max : 0} caracteres`;
    case 'instant':
      return `${name} deve ser uma data e hora (ISO 8601)`;
  }
}
