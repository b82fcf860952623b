/** HTML by template: the one place where the documentation's texts are escaped. */

/** Text that is HTML already. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Html | string | number | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML of a template literal: what is put in is escaped, unless it is HTML itself. Attributes stand in quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(
    parts.map((part, index) => (index === 0 ? part : render(values[index - 1]) + part)).join(''),
  );
}

function render(content: Content = ''): string {
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** Text whose code stands between backticks. */
export function inline(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
