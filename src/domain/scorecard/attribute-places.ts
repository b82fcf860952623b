/** How the attributes of a policy are called where two policies are compared (D51). Pure. */
import { type PolicyDocument, type RatioAttribute, VALUES } from './document.ts';
import { CRITERIA, type Criterion } from './scorecard.ts';

/** Such as `payment_capacity 1.5 to 2`. */
export function capacityPlace({ from, to }: RatioAttribute): string {
  return to === undefined
    ? `payment_capacity from ${Number(from)}`
    : `payment_capacity ${Number(from)} to ${Number(to)}`;
}

/** The name of each attribute of the payment capacity, and of each value of the other criteria, in their order. */
export function attributePlaces({
  characteristics,
}: PolicyDocument): Readonly<Record<Criterion, readonly string[]>> {
  return Object.fromEntries(
    CRITERIA.map((criterion) => [
      criterion,
      criterion === 'payment_capacity'
        ? characteristics.payment_capacity.attributes.map(capacityPlace)
        : VALUES[criterion].map((value) => `${criterion} ${value}`),
    ]),
  ) as Record<Criterion, string[]>;
}
