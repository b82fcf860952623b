/** The search, the views beside the queue, and the addresses of these. No address has what was typed. */
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  hasBothOrders,
  ownOrderOf,
  VIEW_ORDERS,
  VIEWS,
  type View,
  type ViewOrder,
} from '../../../src/domain/application/views.ts';
import type { PersonReply } from '../../../src/subjects/desk/routes/person-forms.ts';
import type { FoundReply } from '../../../src/subjects/desk/routes/search-forms.ts';
import type { ViewPageReply } from '../../../src/subjects/desk/routes/view-forms.ts';
import { act } from './act.ts';
import { type Reading, reading } from './read.ts';

/** A view and its filters, as the address has them. */
export interface ViewAddress {
  readonly view: View;
  readonly partner?: string;
  readonly country?: string;
  readonly currency?: string;
  readonly from?: string;
  readonly to?: string;
  /** Absent: the view's own order. */
  readonly order?: ViewOrder;
}

const FORMS = {
  partner: /^[1-9]\d{0,8}$/,
  country: /^[A-Z]{2}$/,
  currency: /^[A-Z]{3}$/,
  from: /^2\d{3}-\d{2}-\d{2}$/,
  to: /^2\d{3}-\d{2}-\d{2}$/,
} as const;

/** Reads the query of an address. What is no filter, or no value of one, is left out. */
export function viewOf(search: string): ViewAddress {
  const query = new URLSearchParams(search);
  const view = VIEWS.find((name) => name === query.get('view')) ?? 'to_pay';
  const filters = Object.entries(FORMS).flatMap(([name, form]) => {
    const value = query.get(name);
    return value !== null && form.test(value) ? [[name, value]] : [];
  });
  const order = VIEW_ORDERS.find((name) => name === query.get('order') && name !== ownOrderOf(view));
  return {
    view,
    ...Object.fromEntries(filters),
    ...(order !== undefined && hasBothOrders(view) && { order }),
  };
}

/** The address of a view; an empty filter is left out. */
export function viewHref(address: ViewAddress, cursor: string | null = null): string {
  const filled = Object.entries({ ...address, cursor }).filter(([, value]) => value);
  return `/views?${new URLSearchParams(filled as [string, string][])}`;
}

const KEY = 'view';
const POLL_MS = 15_000;
export const VIEW_ROWS = 50;

/** A page of a view, asked for again while the tab is shown. */
export function useView(address: ViewAddress, cursor: string | null): UseQueryResult<Reading<ViewPageReply>> {
  const query = viewHref(address, cursor).replace('/views', '/applications');
  return useQuery({
    ...reading<ViewPageReply>(useQueryClient(), [KEY, query], `${query}&limit=${VIEW_ROWS}`),
    refetchInterval: POLL_MS,
  });
}

/** What is found. No cache keeps what was typed, nor the answer. */
export async function find(q: string): Promise<FoundReply> {
  return (await act<FoundReply>('POST', '/search', { q })).body;
}

/** The person of an application, asked for again while the tab is shown. */
export function usePerson(application: string): UseQueryResult<Reading<PersonReply>> {
  return useQuery({
    ...reading<PersonReply>(useQueryClient(), ['person', application], `/persons/${application}`),
    refetchInterval: POLL_MS,
  });
}
