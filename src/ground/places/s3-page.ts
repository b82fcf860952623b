/** A page of an S3 store's list of objects. */
import { SaxesParser } from 'saxes';

interface Page {
  readonly names: readonly string[];
  /** undefined: the last page. */
  readonly next: string | undefined;
}

/** Reads an answer to ListObjectsV2. Throws an `Error` where it is no XML. */
export function readPage(text: string): Page {
  const names: string[] = [];
  let next: string | undefined;
  const path: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => void path.push(name));
  parser.on('closetag', () => void path.pop());
  parser.on('text', (value) => {
    if (path.join('/') === 'ListBucketResult/Contents/Key') names.push(value);
    if (path.join('/') === 'ListBucketResult/NextContinuationToken') next = value;
  });
  parser.write(text).close();
  return { names, next };
}
