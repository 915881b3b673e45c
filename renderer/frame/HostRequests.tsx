/** Handles requests from the desktop: menu items, opened files and clicked notifications. */
import { useEffect, useSyncExternalStore } from 'react';
import type { PageRequest } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { navigate } from './hash-location.ts';
import { useKeysHelp } from './keys.tsx';
import { offerFiles } from './opened-files.ts';
import { palette } from './palette-store.ts';
import { tour } from './tour-store.ts';

/** Renders nothing; subscribes while connected. In a browser there are no such requests. */
export function HostRequests() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  const epoch = state.kind === 'open' ? state.epoch : 0;
  const showKeys = useKeysHelp();
  useEffect(() => {
    if (epoch === 0) return;
    const controller = new AbortController();
    const handle = (request: PageRequest): void => {
      if (request.kind === 'go') navigate(request.path);
      else if (request.kind === 'palette') palette.open();
      else if (request.kind === 'keys') showKeys();
      else if (request.kind === 'tour') tour.start();
      else {
        offerFiles(request.files);
        navigate('/texts');
      }
    };
    void follow(handle, controller.signal);
    return () => controller.abort();
  }, [epoch, showKeys]);
  return null;
}

async function follow(handle: (request: PageRequest) => void, signal: AbortSignal): Promise<void> {
  try {
    for await (const request of await client.app.requests(undefined, { signal })) handle(request);
  } catch {
    // The connection was lost; the next one opens its own stream.
  }
}
