/** What comes out as JSON: what was named, under its name, and nothing else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { named } from '../../src/ground/base/named.ts';

const AT = new Date('2026-11-30T10:00:00.000Z');
const PARTNER = { id: 7, name: 'Acme', phone: '+573001234567' };
const KEY = {
  id: 3,
  dailyCap: 500,
  used24h: 12,
  createdAt: AT,
  revokedAt: null,
  scopes: ['PRO', 'DEV'],
  partner: PARTNER,
  others: [PARTNER],
  successor: null as typeof PARTNER | null,
  brand: { after_review: true, button: 'Sí' },
  phone: '+573001234567',
};
const json = (value: unknown) => JSON.stringify(value);

describe('the names of JSON', () => {
  it('read the members in camelCase, in the order of the names', () => {
    assert.equal(
      json(named(KEY, 'used_24h daily_cap id scopes')),
      '{"used_24h":12,"daily_cap":500,"id":3,"scopes":["PRO","DEV"]}',
    );
  });

  it('are an allow-list, also of a member, of each element of a list, and of null', () => {
    const names = ['id', { partner: 'id', others: ['name'], successor: 'id' }] as const;
    const told = '{"id":3,"partner":{"id":7},"others":[{"name":"Acme"}],"successor":null}';
    assert.equal(json(named(KEY, names)), told);
    assert.equal(json(named([KEY, KEY], names)), `[${told},${told}]`);
    assert.equal(named(null as typeof KEY | null, names), null);
  });

  it('let an object out only by names of its own, or as it is where they say so', () => {
    assert.throws(() => named(KEY as { partner: unknown }, 'partner' as never), TypeError);
    assert.throws(() => named({ list: [PARTNER] as unknown }, 'list' as never), TypeError);
    assert.deepEqual(named(KEY, [{ brand: '*' }]), { brand: KEY.brand });
  });

  it('fit the value: what does not is an error of types', () => {
    // @ts-expect-error: no such member.
    named(KEY, 'id colour');
    // @ts-expect-error: a name of the program is no name of JSON.
    named(KEY, 'dailyCap');
    // @ts-expect-error: no such member of the member.
    named(KEY, ['id', { partner: 'id colour' }]);
    // @ts-expect-error: nothing has the name.
    named(KEY, [{ colour: '*' }]);
    const told = named(KEY, ['id created_at', { others: 'name' }]);
    // @ts-expect-error: it did not come out.
    assert.equal(told.phone, undefined);
    assert.equal([told.created_at.length, told.others[0]?.name.length].join(), '29,4');
  });

  it('write times with an offset, or as the caller does; an absent member stays absent', () => {
    assert.equal(
      json(named(KEY, 'created_at revoked_at')),
      `{"created_at":"2026-11-30T10:00:00.000+00:00","revoked_at":null}`,
    );
    assert.deepEqual(
      named(KEY, 'created_at', (time) => time.toISOString().slice(0, 10)),
      {
        created_at: '2026-11-30',
      },
    );
    assert.equal(json(named({ id: 1, second: undefined as string | undefined }, 'second id')), '{"id":1}');
  });

  it('find what the object itself has: nothing of its prototype, and no prototype comes out', () => {
    const hostile: unknown = JSON.parse('{"id":1,"__proto__":{"id":2},"phone":"x"}');
    const names = 'id __proto__ constructor to_string' as never;
    for (const value of [hostile, Object.assign(Object.create(PARTNER), { id: 1, [Symbol('phone')]: 'x' })]) {
      const told: object = named(value as object, names);
      assert.deepEqual(Reflect.ownKeys(told), ['id']);
      assert.equal(Object.getPrototypeOf(told), Object.prototype);
    }
    assert.equal(json(named(Object.create(PARTNER) as object, 'id name' as never)), '{}');
  });
});
