/** The typed client. It outlives lines: each call takes the one that is open. */
import { createORPCClient, DynamicLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import { createTanstackQueryUtils } from '@orpc/tanstack-query';
import type { Contract } from '../../main/api/contract/index.ts';
import { currentLine } from './connection.ts';

export type Client = ContractRouterClient<Contract>;

const LOST = 'The connection to the app was lost in the middle of this. Nothing that was stored is lost; try again.';

const link = new DynamicLink(async () => {
  const line = await currentLine();
  const lost = line.lost.then(() => Promise.reject(new Error(LOST)));
  lost.catch(() => undefined);
  return { call: (path, input, options) => Promise.race([line.link.call(path, input, options), lost]) };
});

/** Calls procedures directly: `client.runs.pause({ runId })`. */
export const client: Client = createORPCClient(link);

/** Options for React Query: `useQuery(api.runs.list.queryOptions({ input: {} }))`. */
export const api = createTanstackQueryUtils(client);
