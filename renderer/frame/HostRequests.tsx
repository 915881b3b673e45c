/** Does what the desktop's menu, opened files and clicked notifications ask of the page. */
import { spotlight } from '@mantine/spotlight';
import { useEffect, useSyncExternalStore } from 'react';
import type { PageRequest } from '../../main/api/page-requests.ts';
import { client } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { navigate } from './hash-location.ts';
import { useKeysHelp } from './keys.tsx';
import { offerFiles } from './opened-files.ts';

/** Shows nothing; follows while the line is open. In a browser there is nothing to follow. */
export function HostRequests() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  const epoch = state.kind === 'open' ? state.epoch : 0;
  const showKeys = useKeysHelp();
  useEffect(() => {
    if (epoch === 0) return;
    const controller = new AbortController();
    const obey = (request: PageRequest): void => {
      if (request.kind === 'go') navigate(request.path);
      else if (request.kind === 'palette') spotlight.open();
      else if (request.kind === 'keys') showKeys();
      else {
        offerFiles(request.files);
        navigate('/texts');
      }
    };
    void follow(obey, controller.signal);
    return () => controller.abort();
  }, [epoch, showKeys]);
  return null;
}

async function follow(obey: (request: PageRequest) => void, signal: AbortSignal): Promise<void> {
  try {
    for await (const request of await client.app.requests(undefined, { signal })) obey(request);
  } catch {
    // The line is lost: the next one brings its own stream.
  }
}
