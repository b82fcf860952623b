/** The paths of the partners' interface and the methods that each one takes (D1, D41). */

import { ENVIRONMENTS } from '../../domain/partner/credential.ts';

/** Paths of D41, after the base path; they take GET alone. */
export const EVENTS_PATH = '/PRO/events';
export const APPLICATIONS_PATH = '/PRO/applications';

/** True for the path where a person looks first: that of the listener, or the base path. */
export function isFrontPage(basePath: string, target: string): boolean {
  const path = pathOf(target);
  return path === '' || path === basePath;
}

function pathOf(target: string): string {
  return target.replace(/\?.*/s, '').replace(/\/$/, '');
}

/** The problem of a request without a route: its method where the path is known, else its path. */
export function problemAt(basePath: string, target: string): 'method_not_allowed' | 'only_get' | 'not_found' {
  const whole = pathOf(target);
  if (!whole.startsWith(basePath)) return 'not_found';
  const path = whole.slice(basePath.length);
  if (ENVIRONMENTS.some((environment) => path === `/${environment}`)) return 'method_not_allowed';
  return path === EVENTS_PATH || isApplication(path) ? 'only_get' : 'not_found';
}

function isApplication(path: string): boolean {
  const id = path.startsWith(`${APPLICATIONS_PATH}/`) ? path.slice(APPLICATIONS_PATH.length + 1) : '';
  return id !== '' && !id.includes('/');
}
