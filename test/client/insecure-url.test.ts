/** The API key and the applicants go out encrypted, or only to this machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VentanillaClient } from '../../client/src/index.ts';

const make = (url: string, insecureHttp?: boolean) =>
  new VentanillaClient({ url, apiKey: 'vtn_key', ...(insecureHttp === undefined ? {} : { insecureHttp }) });

const HERE = [
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.255.1.2',
  '127.1',
  '0x7f.0.0.1',
  '[::1]',
  '[0:0::1]',
];
const ELSEWHERE = [
  'host.example',
  '10.0.0.1',
  '0.0.0.0',
  '128.0.0.1',
  '[::2]',
  '[::ffff:10.0.0.1]',
  'localhost.',
  'localhost.example',
  'example.localhost',
  '127.0.0.1.example',
  '127-0-0-1.example',
  'xlocalhost',
];

for (const host of HERE) {
  test(`http://${host} is this machine`, () => {
    make(`http://${host}/PRO`);
    make(`http://${host}:8080/PRO`);
  });
}

for (const host of ELSEWHERE) {
  test(`http://${host} is refused unless insecureHttp allows it`, () => {
    const refusal = { name: 'TypeError', message: /^url must begin with https:.*insecureHttp/ };
    assert.throws(() => make(`http://${host}/PRO`), refusal);
    assert.throws(() => make(`HTTP://${host}:8080/PRO`, false), refusal);
    make(`http://${host}/PRO`, true);
    make(`https://${host}/PRO`);
  });
}

test('insecureHttp allows no other scheme than http://', () => {
  for (const url of ['ftp://host.example/PRO', 'http://user:pw@host.example/PRO', 'host.example/PRO']) {
    assert.throws(() => make(url, true), TypeError, url);
  }
});
