/**
 * HTML templates that escape what is inserted. Only this module escapes texts of pages that the program writes. Pure.
 * src/wire/contract/README.md has the rule.
 */

/** Text that is HTML already. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a template can insert. */
export type Content = Html | string | number | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The HTML of a template literal. Inserted values are escaped unless they are `Html`. Write attributes in quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(
    parts.map((part, index) => (index === 0 ? part : render(values[index - 1]) + part)).join(''),
  );
}

function render(content: Content = ''): string {
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The HTML of a text with code between backticks. */
export function inline(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
