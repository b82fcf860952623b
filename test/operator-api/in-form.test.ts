/** A reply has what its form names, and nothing else. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Type } from 'typebox';
import { inForm } from '../../src/wire/operator/in-form.ts';

const By = Type.Object({ id: Type.Integer() });
const FORM = Type.Object({
  due_at: Type.String({ format: 'date-time' }),
  is_mine: Type.Boolean(),
  maker: Type.Union([By, Type.Null()]),
  rows: Type.Array(Type.Object({ last_event: Type.String(), by: By })),
  limits: Type.Record(Type.String(), Type.String()),
  kinds: Type.Optional(Type.Array(Type.String())),
});
const by = { id: 2, login: 'ana', phone: '+573001234567' };
const value = {
  limits: { COP: '500' },
  rows: [{ by, lastEvent: '9', phone: '+573001234567' }],
  maker: by,
  isMine: true,
  dueAt: new Date('2026-11-30T10:00:00.000Z'),
  phone: '+573001234567',
};
const told = {
  due_at: '2026-11-30T10:00:00.000+00:00',
  is_mine: true,
  maker: { id: 2 },
  rows: [{ last_event: '9', by: { id: 2 } }],
  limits: { COP: '500' },
};

it('a reply has the members of its form alone, at every depth, in the order of the form', () => {
  assert.equal(JSON.stringify(inForm(FORM, value)), JSON.stringify(told));
  const kinds = ['a'];
  assert.deepEqual(inForm(FORM, { ...value, maker: null, kinds }), { ...told, maker: null, kinds });
  assert.deepEqual(inForm(Type.Array(By), [by]), [{ id: 2 }]);
});

it('a value that lacks a member of the form is an error of types', () => {
  const { isMine, ...rest } = value;
  // @ts-expect-error: `isMine` is missing.
  assert.equal('is_mine' in inForm(FORM, rest), !isMine);
});
