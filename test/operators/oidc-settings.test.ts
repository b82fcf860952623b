/** The variables of a sign-in by OpenID Connect (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Setting } from '../../src/ground/base/setting.ts';
import { oidcConfig } from '../../src/subjects/operators/settings.ts';

const configOf = (variables: Readonly<Record<string, string>>) =>
  oidcConfig(<T>({ variable, read }: Setting<T>) =>
    read(variables[variable], { dataDir: '/data', ownDatabase: false }),
  );

it('without variables no identity provider is offered; a part of them is told at the start', () => {
  assert.equal(configOf({}), null);
  assert.throws(() => configOf({ OIDC_ISSUER: 'https://a.example' }), /OIDC_CLIENT_ID is required/);
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']) {
    assert.throws(() => configOf({ [name]: 'x' }), /OIDC_ISSUER is required/);
  }
  assert.throws(() => configOf({ OIDC_SECOND_FACTOR: 'amr:mfa' }), /OIDC_ISSUER is required/);
});

it('claims of a second factor are read by name and value, which may have colons', () => {
  const { secondFactor } = configOf({
    ...{ OIDC_ISSUER: 'https://a.example', OIDC_CLIENT_ID: 'x' },
    OIDC_SECOND_FACTOR: 'amr:mfa, acr:urn:example:gold',
  })!;
  assert.deepEqual(secondFactor, [
    { claim: 'amr', value: 'mfa' },
    { claim: 'acr', value: 'urn:example:gold' },
  ]);
});
