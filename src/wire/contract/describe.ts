/**
 * Describes a field's rule in words, for the OpenAPI document and `/docs`. Pure. `domain/application/fields.ts` has the
 * rules.
 */
import type { NamedField, Rule } from '../../domain/application/fields.ts';
import { MAX_DIGITS, MIN_DIGITS } from '../../domain/phone/phone.ts';
import type { Language, Words } from '../../ground/base/language.ts';

/**
 * True if a registration needs the field. Other fields have a default or may be absent (contract, "Application input").
 */
export function isRequired(rule: Rule): boolean {
  return rule.kind === 'text' || rule.kind === 'amount' || rule.kind === 'choice' || rule.kind === 'consent';
}

/** The documented JSON type of a field. */
export function typeName(rule: Rule): 'number' | 'boolean' | 'string' {
  if (rule.kind === 'amount') return 'number';
  return rule.kind === 'consent' ? 'boolean' : 'string';
}

/** The first name in a language, which answers and examples in that language use. */
export function nameIn(field: NamedField, language: Language): string {
  return language === 'en' ? field.name : field.aliases[0];
}

/**
 * True for the Spanish names, including the channel's: they are still read, but documented only in a table of their
 * own.
 */
export function isLegacy(field: NamedField, name: string): boolean {
  return field.aliases.includes(name) || (field.rule.kind === 'consent' && name.startsWith('optin_'));
}

/** The values that a field takes and their normal form, as sentences with code between backticks. */
export function describeRule({ rule }: NamedField, language: Language): string {
  return wordsOf(rule)[language];
}

function wordsOf(rule: Rule): Words {
  switch (rule.kind) {
    case 'text':
      return {
        en: `Text of 1 to ${rule.max} characters, trimmed.`,
        es: `Texto de 1 a ${rule.max} caracteres, sin espacios alrededor.`,
      };
    case 'label':
      return {
        en: `Text of at most ${rule.max} characters, lower-cased; \`${rule.fallback}\` when blank or absent.`,
        es: `Texto de máximo ${rule.max} caracteres, en minúsculas; \`${rule.fallback}\` si viene vacío o ausente.`,
      };
    case 'phone':
      return {
        en: `${MIN_DIGITS} to ${MAX_DIGITS} digits with country code; a leading \`+\` or \`00\`, spaces, dots, hyphens and parentheses are fine. With country code it has a length that its country has; a trunk digit behind the code goes. Without country code it is read as a number of your own country where it is a valid one, unless \`currency\` is that of another country where it is one too; else as an international number where it is a valid one. Blank or absent: no duplicate check and no message.`,
        es: `De ${MIN_DIGITS} a ${MAX_DIGITS} dígitos con código de país; se aceptan \`+\` o \`00\` al inicio, espacios, puntos, guiones y paréntesis. Con código de país tiene un largo que existe en ese país; se quita el prefijo nacional tras el código. Sin código de país se lee como número de tu propio país si allí es válido, salvo que \`moneda\` sea la de otro país donde también lo es; si no, como número internacional si así es válido. Vacío o ausente: sin control de duplicados y sin mensaje.`,
      };
    case 'currency':
      return {
        en: 'Three-letter ISO 4217 code in any capitalisation. Absent or unknown, it is inferred from the phone, else from your own country: never an error.',
        es: 'Código ISO 4217 de tres letras, en mayúsculas o minúsculas. Si falta o no se conoce, se deduce del teléfono o, si no, de tu propio país: nunca es un error.',
      };
    case 'amount':
      return {
        en: 'Number > 0, or the same as a string such as `1500000.50` or `1.5e6`; no thousands separators.',
        es: 'Número > 0, o el mismo como texto, por ejemplo `1500000.50` o `1.5e6`; sin separadores de miles.',
      };
    case 'choice':
      return choiceWords(rule);
    case 'consent':
      return {
        en: 'JSON `true` or `false`. Nothing is guessed: text, numbers and an absent value are refused.',
        es: '`true` o `false` de JSON. No se adivina nada: se rechazan textos, números y la ausencia del valor.',
      };
    case 'note':
      return {
        en: `Text of at most ${rule.max} characters, trimmed; may be blank or absent. Changes no outcome.`,
        es: `Texto de máximo ${rule.max} caracteres, sin espacios alrededor; puede venir vacío o faltar. No cambia ningún resultado.`,
      };
    case 'instant':
      return {
        en: 'Date and time of ISO 8601, such as `2026-11-20T14:05:00-05:00`, or a date alone; may be blank or absent. Changes no outcome.',
        es: 'Fecha y hora de ISO 8601, por ejemplo `2026-11-20T14:05:00-05:00`, o solo una fecha; puede venir vacía o faltar. No cambia ningún resultado.',
      };
  }
}

function choiceWords({ values, spanish, integers, meanings }: Rule & { kind: 'choice' }): Words {
  const list = (language: Language) =>
    values.map((value) => {
      const meaning = meanings?.[value]?.[language];
      return meaning === undefined ? `\`${value}\`` : `\`${value}\` (${meaning})`;
    });
  const words = Object.keys(spanish ?? {}).map((word) => `\`${word}\``);
  const en = [`One of ${list('en').join(', ')}`];
  const es = [`Uno de ${list('es').join(', ')}`];
  if (values.some((value) => /[a-z]/.test(value))) {
    en.push('any capitalisation');
    es.push('en mayúsculas o minúsculas');
  }
  if (integers === true) {
    en.push('an integer is taken too');
    es.push('también como entero');
  }
  if (words.length > 0) {
    en.push(`${words.join(' and ')} are taken too, without accent`);
    es.push(`también ${words.join(' y ')}, sin tilde`);
  }
  return { en: `${en.join('; ')}.`, es: `${es.join('; ')}.` };
}
