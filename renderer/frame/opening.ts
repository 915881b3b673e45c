/** What is fetched of a screen before it takes the place of another. */
import type { QueryClient } from '@tanstack/react-query';
import { fetchOpening } from '../run/fetch-opening.ts';
import type { Opening } from './hash-location.ts';

/** Of the screens whose first sight takes several answers of the host. */
export function openingOf(queries: QueryClient): Opening {
  return (path) => {
    const runId = Number(/^\/runs\/(\d+)$/.exec(path)?.[1]);
    return Number.isInteger(runId) ? fetchOpening(queries, runId) : undefined;
  };
}
