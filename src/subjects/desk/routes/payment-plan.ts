/** The route of what a contract says to pay, which fills in the lines of a payment (docs/operators.md, "Proposals"). */

import { form } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { paymentPlan } from '../uses/payment-plan.ts';
import { answered, applicationIdOf } from './answered.ts';
import { PaymentPlan } from './proposal-forms.ts';

/** The route. */
export function paymentPlanRoute(desk: Desk): Route {
  return route({
    method: 'POST',
    path: '/applications/{id}/payment-plan',
    access: 'reviewer',
    failures: [404],
    summary:
      'What the contract of an application says to pay to whom, and what of it is open. The reading is recorded.',
    body: form({}),
    reply: PaymentPlan,
    run: ({ params, session }) =>
      answered(async () => {
        const id = applicationIdOf(params.id);
        const payees = await paymentPlan(actingAs(desk, session.operatorId), id);
        return { body: inForm(PaymentPlan, { payees }) };
      }),
  });
}
