/** The name under which an applicant gets a file of an operator (docs/documents.md, "Files to applicants"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readableText } from '../../src/ground/base/plain-text.ts';
import { nameToSend } from '../../src/subjects/documents/rules/file-to-send.ts';

it('whatever a machine tells, the name is short, readable, in no folder, and ends as the content does', () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('..', '/', '\\', '\u202e', '\u0000', '\ud800', '.exe', '<b>', ' ', '\n', 'x'.repeat(300)),
  );
  fc.assert(
    fc.property(
      fc.array(part).map((parts) => parts.join('')),
      (given) => {
        const name = nameToSend(given, 'image/jpeg');
        assert.equal(readableText(name, 84), name);
        assert.match(name, /^[^/\\:*?"<>|.][^/\\:*?"<>|]*\.jpg$/);
      },
    ),
  );
});

it('keeps what a person would know it by', () => {
  const names = {
    'Plan de pagos ñ.pdf': 'Plan de pagos ñ.pdf',
    'C:\\Users\\ana\\plan.PDF': 'plan.pdf',
    '../../etc/passwd': 'passwd.pdf',
    'factura\u202efdp.exe': 'facturafdp.pdf',
    '.pdf': 'file.pdf',
    '  ': 'file.pdf',
  };
  for (const [given, name] of Object.entries(names)) assert.equal(nameToSend(given, 'application/pdf'), name);
});
