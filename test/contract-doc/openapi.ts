/** The OpenAPI document, typed as far as these tests read it. */
import { openApi } from '../../src/contract/openapi.ts';
import type { Schema } from '../../src/contract/openapi-request.ts';
import { fields } from './page.ts';

export type Members = Record<string, Schema>;
export interface Operation {
  readonly description: string;
  readonly responses: Record<string, { content: Record<string, { schema: { properties: Members } }> }>;
}
interface Document {
  readonly paths: Record<string, Record<'get' | 'post', Operation>>;
  readonly components: {
    readonly schemas: Record<string, Schema & { readonly properties: Members }>;
    readonly parameters: {
      readonly IdempotencyKey: { readonly schema: Schema };
      readonly AcceptLanguage: { readonly description: string };
    };
    readonly responses: { readonly NotFound: Operation['responses'][string] };
  };
}

export const source = openApi({ basePath: '', fields });
export const document = source as unknown as Document;
export const { schemas } = document.components;
