/**
 * The brand of a key: what its messages say, and under which templates the channel knows them (contract,
 * "Events"; D31, D32). What a brand leaves out is the co-branded default.
 */

import {
  DEFAULT_BUTTONS,
  DEFAULT_PARAMETERS,
  DEFAULT_TEMPLATE_LANGUAGES,
  DEFAULT_TEXTS,
} from './brand-defaults.ts';
import { type ByLanguage, type ByType, PLACEHOLDER_PATTERN, type Placeholder } from './brand-parts.ts';
import { DEFAULT_TEMPLATES, MESSAGE_TYPES, type MessageType, type Templates } from './notify.ts';
import { MESSAGE_LANGUAGES, type MessageLanguage } from './outgoing-message.ts';

/** A template at the channel; without a name it keeps the default one. */
interface TemplateSettings {
  readonly name?: string;
  /** The code under which each language was approved, such as es_CO. */
  readonly languages?: Partial<ByLanguage<string>>;
  /** What {{1}}, {{2}} ... of the template stand for. */
  readonly parameters?: readonly Placeholder[];
}

/** A key's brand as it is stored (docs/brand.md). */
export interface Brand {
  /** The partner's name as applicants read it; without it the partner's own. */
  readonly partner?: string;
  readonly texts?: Partial<ByType<Partial<ByLanguage<string>>>>;
  /** Titles. The first of approved and offer is the "I am interested" button (D31). */
  readonly buttons?: Partial<ByType<Partial<ByLanguage<readonly string[]>>>>;
  /** A text is the template's name. */
  readonly templates?: Partial<ByType<string | TemplateSettings>>;
}

/** A brand with nothing left out; itself a `Brand` that means the same. */
export interface EffectiveBrand {
  readonly partner: string;
  readonly texts: ByType<ByLanguage<string>>;
  readonly buttons: ByType<ByLanguage<readonly string[]>>;
  readonly templates: ByType<{
    readonly name: string;
    readonly languages: ByLanguage<string>;
    readonly parameters: readonly Placeholder[];
  }>;
}

/** The longest value that each placeholder is given, in UTF-16 units; longer names are shortened. */
export const MAX_VALUE_LENGTH: Readonly<Record<Placeholder, number>> = { name: 60, partner: 60, debt: 40 };

/**
 * A name fit to stand in a message: the channel refuses parameters with line breaks, tabs or more than four
 * spaces in a row (its error 132018), so white space becomes one space each; what is too long ends after its
 * last word that fits.
 */
export function shortName(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const lastSpace = line.lastIndexOf(' ', maxLength);
  if (lastSpace > 0) return line.slice(0, lastSpace);
  // Half of a character beyond the basic plane must not stay behind.
  return line.slice(0, maxLength).replace(/\p{Cs}$/u, '');
}

/** What messages under `brand` really say; `partnerName` is the partner's own name. */
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
  };
}

/** The template names of a brand, which `would_notify` shows (D32). */
export function templateNames(templates: Brand['templates']): Templates {
  if (templates === undefined) return DEFAULT_TEMPLATES;
  return byType((type) => settingsOf(templates[type]).name ?? DEFAULT_TEMPLATES[type]);
}

/** The placeholders of a text, each once. */
export function placeholdersOf(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(PLACEHOLDER_PATTERN), ([, word]) => word as string));
}

/** Every type in every language. */
export function* typesAndLanguages(): Generator<[MessageType, MessageLanguage]> {
  for (const type of MESSAGE_TYPES) for (const language of MESSAGE_LANGUAGES) yield [type, language];
}

function byType<T>(make: (type: MessageType) => T): ByType<T> {
  return { approved: make('approved'), offer: make('offer'), rejected: make('rejected') };
}

function settingsOf(template: string | TemplateSettings | undefined): TemplateSettings {
  return typeof template === 'string' ? { name: template } : (template ?? {});
}
