/** Texts of the search, of the views beside the queue and of a person's page. They load with these, and not before. */
import { counted } from '../../../../src/ground/base/counted.ts';

export const en = {
  field: 'Number, phone, ID number, partner or login',
  note: 'What you type is not kept. Nobody finds a person by a name.',
  find: 'Find',
  nothing: 'Nothing is found.',
  applications: 'Applications',
  persons: 'Persons',
  partners: 'Partners',
  operators: 'Operators',
  more: 'There are more: open the person.',
  matched: { number: 'number', phone: 'phone', id_number: 'ID number' },
  personOf: (count: number) => counted(count, 'application', 'applications'),
  nobody: 'erased or unreadable',
  title: 'Applications',
  views: {
    to_pay: 'To pay',
    signed: 'In the withdrawal period',
    waiting_signature: 'Wait for the signature',
    waiting_person: 'Wait for a person',
    pended: 'Pended',
    review_asked: 'Review asked for',
    decided: 'Decided',
  },
  at: {
    to_pay: 'To pay since',
    signed: 'To pay from',
    waiting_signature: 'Registered',
    waiting_person: 'Waits since',
    pended: 'Pended since',
    review_asked: 'Answer due',
    decided: 'Decided',
  },
  filters: 'Filters',
  currency: 'Currency',
  from: 'From day',
  to: 'To day',
  status: 'Status',
  proposed: 'Proposed',
  count: (_count: number, text: string) => `${text} in all`,
  empty: 'Nothing is in this view.',
  lookFurther: 'None of these applications fits. The next page looks further.',
};

/** English has the list: a text that another language lacks is an error of types. */
export type FindTexts = typeof en;
