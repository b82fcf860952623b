/** Reads the text of a scrape. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Every series of a scrape. */
export function seriesOf(text: string): Series[] {
  return [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]),
      ),
      value: Number(value),
    }),
  );
}

/** The number of the series with these labels and no others; undefined: there is none. */
export function numberOf(text: string, name: string, labels: Record<string, string>): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return seriesOf(text).find(
    (one) => one.name === name && JSON.stringify(Object.entries(one.labels).sort()) === wanted,
  )?.value;
}
