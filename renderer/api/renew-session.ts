/** Reconnects a page whose session has expired, without loading it again: what was typed stays. */
import { createORPCClient } from '@orpc/client';
import type { Client } from './client.ts';
import { reconnectBy } from './connection.ts';
import { openSession } from './transport.ts';

/** Takes the address that `braid serve` printed, which must have the workspace that this page shows open. */
export async function renewSession(printed: string, workspace: string | undefined): Promise<void> {
  const { page, transport } = await openSession(printed);
  const client: Client = createORPCClient(transport.link);
  const now = await client.app.info();
  // What was typed here belongs to runs and texts of this workspace.
  if (workspace !== undefined && now.workspace !== workspace)
    throw new Error(`Braid now has another workspace open, ${now.workspace}. Open its address in a new tab.`);
  window.history.replaceState(window.history.state, '', new URL(window.location.hash, page));
  reconnectBy(transport);
}
