/** The OpenAPI document, with types for the parts that these tests read. */
import type { Language } from '../../src/ground/base/language.ts';
import { PUSH_WEBHOOKS } from '../../src/subjects/events/push/openapi.ts';
import { openApi } from '../../src/wire/contract/openapi.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';
import { fields } from './page.ts';

export type Members = Record<string, Schema>;
interface Answer {
  readonly headers: Record<string, { readonly $ref: string }>;
  readonly content: Record<string, { readonly schema: { readonly properties: Members } }>;
}
export interface Operation {
  readonly description: string;
  readonly responses: Record<string, Answer>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Schema;
}
interface Document {
  readonly paths: Record<string, { readonly get?: Operation; readonly post?: Operation }>;
  readonly components: {
    readonly schemas: Record<string, Schema & { readonly properties: Members }>;
    readonly parameters: Readonly<
      Record<'IdempotencyKey' | 'AcceptLanguage' | 'After' | 'Limit' | 'ApplicationId', Parameter>
    >;
    readonly securitySchemes: Record<string, { readonly name: string }>;
    readonly headers: Record<string, { readonly schema: Schema }>;
    readonly responses: { readonly NotFound: Operation['responses'][string] };
  };
}

const sourceIn = (language: Language) => openApi({ basePath: '', fields, language, webhooks: PUSH_WEBHOOKS });
export const sources: Record<Language, Schema> = { en: sourceIn('en'), es: sourceIn('es') };
export const documents = sources as unknown as Record<Language, Document>;
/** What the documents of both languages have alike is read here. */
export const document = documents.en;
