/** The typed client. It survives reconnects: each call uses the connection that is open. */
import { createORPCClient, DynamicLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import { createTanstackQueryUtils } from '@orpc/tanstack-query';
import type { AppStatus, Contract } from '../../main/api/contract/index.ts';
import { heardHostTime } from '../components/host-time.ts';
import { currentTransport } from './connection.ts';

export type Client = ContractRouterClient<Contract>;

const LOST = 'The connection to the app was lost during this request. Everything saved so far is safe. Try again.';

const link = new DynamicLink(async () => {
  const transport = await currentTransport();
  const lost = transport.lost.then(() => Promise.reject(new Error(LOST)));
  lost.catch(() => undefined);
  return {
    call: async (path, input, options) => {
      const answer: unknown = await Promise.race([transport.link.call(path, input, options), lost]);
      if (path.join('.') === 'app.status') heardHostTime((answer as AppStatus).now);
      return answer;
    },
  };
});

/** Calls procedures directly: `client.runs.pause({ runId })`. */
export const client: Client = createORPCClient(link);

/** Options for React Query: `useQuery(api.runs.list.queryOptions({ input: {} }))`. */
export const api = createTanstackQueryUtils(client);
