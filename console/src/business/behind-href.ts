/** The address of the applications behind a number of the business. Pure. */
import type { Listed } from '../../../src/subjects/business/rules/behind.ts';
import type { BusinessFilters } from '../api/business.ts';

export function behindHref(number: Listed, filters: BusinessFilters, cursor: string | null = null): string {
  const query = new URLSearchParams({ ...filters, number, ...(cursor !== null && { cursor }) });
  return `/business/applications?${query}`;
}
