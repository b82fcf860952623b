/** What a newcomer reads when the service is up. */

const EXAMPLE = {
  applications: [
    {
      name: 'Ana Gómez',
      id_number: '1020304050',
      city: 'Bogotá',
      phone: '+57 300 555 0101',
      currency: 'COP',
      income: 3_200_000,
      debt_amount: 6_000_000,
      num_debts: '1',
      debt_age: 'lt6',
      prior_history: 'yes',
      messaging_optin: true,
    },
  ],
};

/** The URLs and, on the first start, the demo partner's key and a command that can be pasted. */
export function welcome(url: string, opsUrl: string, demoKey: string | null): string {
  const lines = [
    '',
    'Ventanilla is ready.',
    `  Partner API   ${url}/PRO   (sandbox: ${url}/DEV)`,
    `  Health        ${opsUrl}/healthz   ${opsUrl}/readyz`,
    '',
  ];
  if (demoKey !== null) {
    lines.push(
      'The store was empty, so there is a partner "Demo" now. Its key, shown only this once:',
      `  ${demoKey}`,
      '',
      'Register an application:',
      `  curl -sS ${url}/PRO -H 'X-API-Key: ${demoKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE)}'`,
      '',
      'Or, from another terminal, a batch of 100 as a table:',
      '  npm run demo',
      '',
    );
  }
  return lines.join('\n');
}
