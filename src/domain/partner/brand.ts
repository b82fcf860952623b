/**
 * The brand of a key: the texts of its messages, and the templates of those texts at the channel (docs/brand.md;
 * contract, "Events"; D31, D32). A part that a brand leaves out has its default, which is here too. Pure.
 */
import type { FlowChanges } from '../conversation/flow.ts';
import { DEFAULT_TEMPLATES, TEMPLATE_KINDS, type TemplateKind, type Templates } from '../message/notify.ts';
import { MESSAGE_LANGUAGES, type MessageLanguage } from '../message/outgoing-message.ts';

// The default messages of a key, in the name of the partner and Ventanilla, in Spanish and Portuguese. `approved` and
// `offer` carry the debt balance and the "I am interested" button; `rejected` and `reminder` have neither (D31). The
// `rejected` message that tells the reasons has a button that asks for a review (D50). Each message ends with the word
// that stops further messages.

const DEFAULT_TEXTS: ByType<ByLanguage<string>> = {
  approved: {
    es:
      'Hola, {name}: {partner} y Ventanilla aprobaron tu solicitud para unificar tu deuda de {debt}. ' +
      'Toca el botón y seguimos en este chat. Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: {partner} e Ventanilla aprovaram o seu pedido para unificar a sua dívida de {debt}. ' +
      'Toque no botão e continuamos nesta conversa. Para não receber mais mensagens, responda PARAR.',
  },
  offer: {
    es:
      'Hola, {name}: {partner} y Ventanilla pueden ayudarte a unificar tu deuda de {debt}. Tu solicitud está ' +
      'en revisión: toca el botón si te interesa y seguimos en este chat. Para no recibir más mensajes, ' +
      'responde BAJA.',
    pt:
      'Olá, {name}: {partner} e Ventanilla podem ajudar você a unificar a sua dívida de {debt}. O seu pedido ' +
      'está em análise: toque no botão se tiver interesse e continuamos nesta conversa. Para não receber mais ' +
      'mensagens, responda PARAR.',
  },
  rejected: {
    es:
      'Hola, {name}: gracias por tu solicitud con {partner} y Ventanilla. Por ahora no podemos aprobarla. ' +
      'Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: agradecemos o seu pedido com {partner} e Ventanilla. Por enquanto não podemos aprová-lo. ' +
      'Para não receber mais mensagens, responda PARAR.',
  },
  reminder: {
    es:
      'Hola, {name}: tu solicitud con {partner} y Ventanilla sigue abierta. Responde a este mensaje y ' +
      'continuamos donde quedamos. Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: o seu pedido com {partner} e Ventanilla continua aberto. Responda a esta mensagem e ' +
      'continuamos de onde paramos. Para não receber mais mensagens, responda PARAR.',
  },
  rejected_reasons: {
    es:
      'Hola, {name}: gracias por tu solicitud con {partner} y Ventanilla. Por ahora no podemos aprobarla. Los ' +
      'motivos:\n• {reason_1}\n• {reason_2}\n\nSi crees que hay un error, toca el botón o responde REVISIÓN y una ' +
      'persona la revisa. Para no recibir más mensajes, responde BAJA.',
    pt:
      'Olá, {name}: agradecemos o seu pedido com {partner} e Ventanilla. Por enquanto não podemos aprová-lo. Os ' +
      'motivos:\n• {reason_1}\n• {reason_2}\n\nSe você acha que há um erro, toque no botão ou responda REVISÃO e uma ' +
      'pessoa o analisa. Para não receber mais mensagens, responda PARAR.',
  },
};

const INTERESTED: ByLanguage<readonly string[]> = { es: ['Me interesa'], pt: ['Tenho interesse'] };

export const DEFAULT_BUTTONS: ByType<ByLanguage<readonly string[]>> = {
  approved: INTERESTED,
  offer: INTERESTED,
  rejected: { es: [], pt: [] },
  reminder: { es: [], pt: [] },
  rejected_reasons: { es: ['Pedir revisión'], pt: ['Pedir revisão'] },
};

/** The channel has no code for Portuguese alone, only pt_BR and pt_PT. */
const DEFAULT_TEMPLATE_LANGUAGES: ByLanguage<string> = { es: 'es', pt: 'pt_BR' };

/** The placeholders of each default text, in the order of the template's parameters. */
export const DEFAULT_PARAMETERS: ByType<readonly Placeholder[]> = {
  approved: ['name', 'partner', 'debt'],
  offer: ['name', 'partner', 'debt'],
  rejected: ['name', 'partner'],
  reminder: ['name', 'partner'],
  rejected_reasons: ['name', 'partner', 'reason_1', 'reason_2'],
};

// The types and names that brands and their defaults share.

/** The placeholders of a text: the applicant's name, the partner's name, the debt balance, and two reasons (D50). */
export const PLACEHOLDERS = ['name', 'partner', 'debt', 'reason_1', 'reason_2'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** `{word}` in a text. Any word matches, so that the check can name an unknown placeholder. */
export const PLACEHOLDER_PATTERN = /\{([^{}]*)\}/g;

export type ByType<T> = Readonly<Record<TemplateKind, T>>;
export type ByLanguage<T> = Readonly<Record<MessageLanguage, T>>;

/** A template at the channel. Without a name it has the default name. */
interface TemplateSettings {
  readonly name?: string;
  /** The code under which each language was approved, such as es_CO. */
  readonly languages?: Partial<ByLanguage<string>>;
  /** The values of {{1}}, {{2}} ... in the template. */
  readonly parameters?: readonly Placeholder[];
}

/** A key's brand as it is stored (docs/brand.md). */
export interface Brand {
  /** The partner's name for applicants; by default the name of the partner. */
  readonly partner?: string;
  readonly texts?: Partial<ByType<Partial<ByLanguage<string>>>>;
  /** The titles of buttons. The first button of `approved` and `offer` is "I am interested" (D31). */
  readonly buttons?: Partial<ByType<Partial<ByLanguage<readonly string[]>>>>;
  /** A text stands for the name of the template. */
  readonly templates?: Partial<ByType<string | TemplateSettings>>;
  /**
   * Whether the `rejected` message tells the reasons (D50). Absent or false: only where the law of the phone's country
   * asks for it.
   */
  readonly rejected_reasons?: boolean;
  /** False: no message after a review follows one that has gone out (D40). */
  readonly after_review?: boolean;
  /** False: the tap on "I am interested" begins no conversation (D43). An object: its changes of the default flow. */
  readonly conversation?: false | FlowChanges;
  /** The name of the contract's template in the operator's terms (D45); by default the country's. */
  readonly contract?: string;
}

/** A brand with every part. It is a `Brand` with the same meaning. */
export interface EffectiveBrand {
  readonly partner: string;
  readonly texts: ByType<ByLanguage<string>>;
  readonly buttons: ByType<ByLanguage<readonly string[]>>;
  readonly templates: ByType<{
    readonly name: string;
    readonly languages: ByLanguage<string>;
    readonly parameters: readonly Placeholder[];
  }>;
  readonly rejected_reasons: boolean;
  readonly after_review: boolean;
}

/** The longest value of each placeholder, in UTF-16 units. Longer names are shortened. */
export const MAX_VALUE_LENGTH: Readonly<Record<Placeholder, number>> = {
  ...{ name: 60, partner: 60, debt: 40 },
  ...{ reason_1: 160, reason_2: 160 },
};

/**
 * Makes a name, or another value, fit for a message. The channel refuses parameters with line breaks, tabs or more than
 * four spaces in a row (its error 132018), so each run of white space becomes one space. A long name ends after the
 * last word that fits.
 */
export function shortName(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const lastSpace = line.lastIndexOf(' ', maxLength);
  if (lastSpace > 0) return line.slice(0, lastSpace);
  // The cut may leave half of a surrogate pair.
  return line.slice(0, maxLength).replace(/\p{Cs}$/u, '');
}

/** Completes a brand with the defaults. `partnerName` is the partner's own name. */
export function effectiveBrand(brand: Brand, partnerName: string): EffectiveBrand {
  return {
    partner: shortName(brand.partner ?? partnerName, MAX_VALUE_LENGTH.partner),
    texts: byType((type) => ({ ...DEFAULT_TEXTS[type], ...brand.texts?.[type] })),
    buttons: byType((type) => ({ ...DEFAULT_BUTTONS[type], ...brand.buttons?.[type] })),
    templates: byType((type) => {
      const settings = settingsOf(brand.templates?.[type]);
      return {
        name: settings.name ?? DEFAULT_TEMPLATES[type],
        languages: { ...DEFAULT_TEMPLATE_LANGUAGES, ...settings.languages },
        parameters: settings.parameters ?? DEFAULT_PARAMETERS[type],
      };
    }),
    rejected_reasons: brand.rejected_reasons ?? false,
    after_review: brand.after_review ?? true,
  };
}

/** The template names of a brand, which `would_notify` shows (D32). */
export function templateNames(templates: Brand['templates']): Templates {
  if (templates === undefined) return DEFAULT_TEMPLATES;
  return byType((type) => settingsOf(templates[type]).name ?? DEFAULT_TEMPLATES[type]);
}

/** The placeholders of a text, each once. */
export function placeholdersOf(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(PLACEHOLDER_PATTERN), ([, word = '']) => word));
}

/** Every kind of template in every language. */
export function* typesAndLanguages(): Generator<[TemplateKind, MessageLanguage]> {
  for (const type of TEMPLATE_KINDS) for (const language of MESSAGE_LANGUAGES) yield [type, language];
}

function byType<T>(make: (type: TemplateKind) => T): ByType<T> {
  return {
    approved: make('approved'),
    offer: make('offer'),
    rejected: make('rejected'),
    reminder: make('reminder'),
    rejected_reasons: make('rejected_reasons'),
  };
}

function settingsOf(template: string | TemplateSettings | undefined): TemplateSettings {
  return typeof template === 'string' ? { name: template } : (template ?? {});
}
