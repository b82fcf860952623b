/** Reads the documentation page as people see it. */

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** Without tags, entities resolved. */
export function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (_, name: string) => ENTITIES[name] as string);
}

/** Each table by its caption: the rows below the headings, as texts of cells. */
export function tablesOf(markup: string): ReadonlyMap<string, string[][]> {
  const tables = [...markup.matchAll(/<caption>(.*?)<\/caption>.*?<tbody[^>]*>(.*?)<\/tbody>/gs)];
  return new Map(
    tables.map(([, caption, body]) => [
      textOf(caption as string),
      [...(body as string).matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
        [...(row as string).matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) =>
          textOf(cell as string),
        ),
      ),
    ]),
  );
}
