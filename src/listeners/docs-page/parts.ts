/**
 * The parts of the sections of `/docs`: headings, tables, code and JSON. Pure. src/wire/contract/README.md says what
 * `/docs` is made from.
 */
import type { NamedField } from '../../domain/application/fields.ts';
import { type Content, type Html, html } from '../../ground/base/html.ts';
import type { Language } from '../../ground/base/language.ts';

/** The data behind the sections. */
export interface Docs {
  readonly language: Language;
  /** `{base_url}`'s path: empty, or begins with a slash. */
  readonly basePath: string;
  readonly fields: readonly NamedField[];
  /** Whether the page leads to the simulator, which only a person at the machine of the service can open. */
  readonly hasSimulator: boolean;
  /** The least scores of the policy in force. */
  readonly bands: { readonly approved: number; readonly in_review: number };
}

/** A section of the page. */
export interface Section {
  /** The id is the anchor too. It is the same in every language. */
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

/** The text in the page's language. */
export function inLanguage<T>({ language }: Docs, en: T, es: T): T {
  return language === 'en' ? en : es;
}

/**
 * A table whose rows become cards on a narrow page. The first cell of a row is its heading. With the roles, screen
 * readers still read the cards as a table.
 */
export function table(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Content[])[],
): Html {
  return html`<div class="table"><table role="table">
    <caption>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map(
      (cells) =>
        html`<tr role="row">${cells.map((cell, index) =>
          index === 0
            ? html`<th role="rowheader" scope="row">${cell}</th>`
            : html`<td role="cell" data-label="${headings[index] ?? ''}">${cell}</td>`,
        )}</tr>\n`,
    )}</tbody>
  </table></div>`;
}

/** A long table that a reader unfolds; the filter of the page unfolds the tables with rows that fit. */
export function foldedTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Content[])[],
): Html {
  return html`<details><summary>${caption} (${rows.length})</summary>${table(caption, headings, rows)}</details>`;
}

/** Code that can be copied, under a label. */
export function code(label: string, content: Content): Html {
  return html`<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0"><code>${content}</code></pre></figure>`;
}

/** A value as indented JSON, with small objects and lists on one line. */
export function json(value: unknown): Html {
  const parts = jsonText(value).split(/("(?:[^"\\]|\\.)*")/);
  return html`${parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const isName = parts[index + 1]?.startsWith(':') === true;
    return isName ? html`<span class="name">${part}</span>` : html`<span class="text">${part}</span>`;
  })}`;
}

const MAX_LINE = 64;

function jsonText(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([name, member]) => {
    const text = jsonText(member, `${indent}  `);
    return isList ? text : `${JSON.stringify(name)}: ${text}`;
  });
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const line = isList ? `[${members.join(', ')}]` : `{ ${members.join(', ')} }`;
  if (!line.includes('\n') && indent.length + line.length <= MAX_LINE) return line;
  return `${open}\n${members.map((member) => `${indent}  ${member}`).join(',\n')}\n${indent}${close}`;
}

/** The address of an environment. A script inserts the page's own host. */
export function address({ basePath }: Docs, path: string): Html {
  return html`<span data-origin>https://api.example</span>${basePath}${path}`;
}

/** Names as code, with commas between them. */
export function codes(names: readonly string[]): Html {
  return html`${names.map((name, index) => html`${index === 0 ? '' : ', '}<code>${name}</code>`)}`;
}
