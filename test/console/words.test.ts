/** The words of the page: one word for one thing in each language, and no English in another one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

/** By path, such as `codes.acts.reject`. Texts with parameters are left out. */
type Words = ReadonlyMap<string, string>;

/** Texts that read the same in English. */
const SAME_AS_ENGLISH = new Set(['no', 'Backtest', 'Chat', 'PSI']);

const MEANINGS = {
  es: { reject: /rechaz/i, decline: /declin/i },
  pt: { reject: /rejei/i, decline: /recus/i },
} as const;

// By a name that no check of types follows: the texts name types of the page.
const wordsOf = async (language: string): Promise<Words> => {
  const texts = await import(new URL(`../../console/src/texts/${language}/index.ts`, import.meta.url).href);
  // They load with their pages.
  const ofPages = ['policies', 'find', 'business', 'service', 'partners', 'endpoint', 'brand'].map(
    async (name) => {
      const path = `../../console/src/texts/${language}/${name}.ts`;
      return [name, (await import(new URL(path, import.meta.url).href))[language]] as const;
    },
  );
  const leaves = (value: unknown, path: string): [string, string][] => {
    if (typeof value === 'string') return [[path, value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) =>
      leaves(inner, path === '' ? name : `${path}.${name}`),
    );
  };
  const later = (await Promise.all(ofPages)).flatMap(([name, texts]) => leaves(texts, name));
  return new Map([...leaves(texts[language], ''), ...later]);
};

/** Texts with a count and what writes it; English has the same word for one and many in some. */
const COUNTED = {
  application: ['installments'],
  queue: ['frozen', 'decideMany', 'selected', 'undoneMany'],
  lead: ['decisions', 'looksWaiting', 'lookedAt'],
} as const;
const SAME_IN_ENGLISH = ['selected', 'undoneMany', 'lookedAt'];

describe('the words of the page', async () => {
  for (const language of ['en', 'es', 'pt']) {
    it(`one is not written as many, ${language}`, async () => {
      const path = `../../console/src/texts/${language}/index.ts`;
      const texts = (await import(new URL(path, import.meta.url).href))[language];
      for (const [group, names] of Object.entries(COUNTED)) {
        for (const name of names) {
          if (language === 'en' && SAME_IN_ENGLISH.includes(name)) continue;
          const text = (count: number): string =>
            name === 'decideMany'
              ? texts[group][name]('x', count, `${count}`)
              : texts[group][name](count, `${count}`);
          assert.notEqual(text(1), text(2).replace('2', '1'), `${group}.${name}`);
        }
      }
    });
  }

  const english = await wordsOf('en');

  for (const [language, { reject, decline }] of Object.entries(MEANINGS)) {
    const words = await wordsOf(language);

    it(`to reject an application and to decline are two words, the same everywhere, ${language}`, () => {
      const wrong = [...english].filter(([path, text]) => {
        const word = words.get(path) ?? '';
        const isRejected = /reject/i.test(text);
        const isDeclined = /declin/i.test(text);
        return reject.test(word) !== isRejected || decline.test(word) !== isDeclined;
      });
      assert.deepEqual(
        wrong.map(([path]) => `${path}: ${words.get(path)}`),
        [],
      );
    });

    it(`says nothing in English, ${language}`, () => {
      const same = [...words].filter(
        ([path, text]) => english.get(path) === text && !SAME_AS_ENGLISH.has(text),
      );
      assert.deepEqual(same, []);
    });

    it(`says of an empty list nothing that fits one gender alone, ${language}`, () => {
      assert.doesNotMatch(words.get('application.none') ?? '', /ningun|nenhum/i);
    });
  }
});
