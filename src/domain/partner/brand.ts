/**
 * The brand of a key: the texts of its messages and the templates of those texts at the channel (contract, "Events";
 * D31, D32). A part that a brand leaves out has its default.
 */

import type { FlowChanges } from '../conversation/flow.ts';
import { DEFAULT_TEMPLATES, MESSAGE_TYPES, type MessageType, type Templates } from '../message/notify.ts';
import { MESSAGE_LANGUAGES, type MessageLanguage } from '../message/outgoing-message.ts';
import {
  DEFAULT_BUTTONS,
  DEFAULT_PARAMETERS,
  DEFAULT_TEMPLATE_LANGUAGES,
  DEFAULT_TEXTS,
} from './brand-defaults.ts';
import { type ByLanguage, type ByType, PLACEHOLDER_PATTERN, type Placeholder } from './brand-parts.ts';

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
  /** False: no message after a review follows one that has gone out (D40). */
  readonly after_review?: boolean;
  /** False: the tap on "I am interested" begins no conversation (D43). Else what the default flow has otherwise. */
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
  readonly after_review: boolean;
}

/** The longest value of each placeholder, in UTF-16 units. Longer names are shortened. */
export const MAX_VALUE_LENGTH: Readonly<Record<Placeholder, number>> = { name: 60, partner: 60, debt: 40 };

/**
 * Makes a name fit for a message. The channel refuses parameters with line breaks, tabs or more than four spaces in a
 * row (its error 132018), so each run of white space becomes one space. A long name ends after the last word that fits.
 */
function shortName(text: string, maxLength: number): string {
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

/** Every type in every language. */
export function* typesAndLanguages(): Generator<[MessageType, MessageLanguage]> {
  for (const type of MESSAGE_TYPES) for (const language of MESSAGE_LANGUAGES) yield [type, language];
}

function byType<T>(make: (type: MessageType) => T): ByType<T> {
  return {
    approved: make('approved'),
    offer: make('offer'),
    rejected: make('rejected'),
    reminder: make('reminder'),
  };
}

function settingsOf(template: string | TemplateSettings | undefined): TemplateSettings {
  return typeof template === 'string' ? { name: template } : (template ?? {});
}
