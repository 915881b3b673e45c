/** The server of an engine that is started from here: how it is, its log, start and stop. */
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { EngineView, ServerStatus } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { When } from '../components/When.tsx';
import { SecretForm } from './SecretForm.tsx';
import classes from './Settings.module.css';

/** How often a server's state is read while it may change. */
const SOON_MS = 2000;
const LATER_MS = 10_000;

export function EngineServer({ engine }: { readonly engine: EngineView }) {
  const { name, server: last } = engine;
  const queries = useQueryClient();
  const look = useQuery(
    api.engines.look.queryOptions({
      input: { name },
      enabled: last !== null,
      refetchInterval: ({ state: { data } }) => (data?.mayBeUp ? (data.state === 'up' ? LATER_MS : SOON_MS) : false),
    }),
  );
  const server = look.data ?? last;
  const [showsLog, setShowsLog] = useState(false);
  const act = useMutation({
    mutationFn: (work: () => Promise<ServerStatus>) => work(),
    onSuccess: (status) => queries.setQueryData(api.engines.look.queryKey({ input: { name } }), status),
    onSettled: () => queries.invalidateQueries({ queryKey: api.engines.list.key() }),
  });
  const mayBeUp = server?.mayBeUp ?? false;
  return (
    <div className={classes.server}>
      <p>
        <ServerWords server={server} engine={engine} />
      </p>
      <div className={classes.path}>
        {engine.launcher !== null && !mayBeUp && (
          <Button
            variant="default"
            aria-label={`Launch server of ${name}`}
            loading={act.isPending}
            onClick={() => act.mutate(() => client.engines.start({ name }))}
          >
            Launch server
          </Button>
        )}
        {mayBeUp && (
          <Button
            variant="default"
            aria-label={`Stop server of ${name}`}
            loading={act.isPending}
            onClick={() => act.mutate(() => client.engines.stop({ name }))}
          >
            Stop server
          </Button>
        )}
        {server?.state === 'unknown' && act.error !== null && (
          <Button
            variant="default"
            aria-label={`Give up on server of ${name}`}
            onClick={() => act.mutate(() => client.engines.forget({ name }))}
          >
            Give up on server
          </Button>
        )}
        {server !== null && (
          <Button
            variant="default"
            aria-label={`${showsLog ? 'Hide' : 'Show'} log of ${name}`}
            aria-expanded={showsLog}
            onClick={() => setShowsLog(!showsLog)}
          >
            {showsLog ? 'Hide' : 'Show'} log
          </Button>
        )}
      </div>
      {act.error !== null && <Failed what="The server refused the request" error={act.error} />}
      {look.error !== null && <Failed what="The server's state can't be read" error={look.error} />}
      {showsLog && <Log name={name} isLive={mayBeUp} />}
      {engine.hasClusterToken !== null && (
        <SecretForm
          label={`Cluster token of ${name}`}
          noun="token"
          placeholder={engine.hasClusterToken ? 'A cluster token is saved' : 'Cluster token, if it needs one'}
          isKept={engine.hasClusterToken}
          send={(token) => client.engines.setClusterToken({ name, token })}
          queryKey={api.engines.list.queryKey()}
        />
      )}
    </div>
  );
}

const STATES: Readonly<Record<ServerStatus['state'], string>> = {
  starting: 'starting',
  up: 'up',
  failed: 'failed',
  stopped: 'stopped',
  gone: 'gone',
  unknown: "can't be asked",
};

interface ServerWordsProps {
  readonly server: ServerStatus | null;
  readonly engine: EngineView;
}

function ServerWords({ server, engine }: ServerWordsProps) {
  if (server === null) return <>Server: not launched from here yet.</>;
  const { state, where, detail, startedAt, endedAt, mayBeUp, idleMinutes, maxHours } = server;
  const tone = state === 'failed' || state === 'gone' || state === 'unknown' ? 'bad' : mayBeUp ? 'good' : undefined;
  return (
    <span role="status" aria-label={`Server of ${engine.name}`}>
      Server:{' '}
      <strong data-tone={tone} className={classes.serverState}>
        {STATES[state]}
      </strong>
      , {where}, {mayBeUp ? 'launched ' : 'ended '}
      <When at={mayBeUp ? startedAt : (endedAt ?? startedAt)} />. {detail}.
      {mayBeUp && ` ${limitWords(idleMinutes, maxHours)}`}
    </span>
  );
}

function limitWords(idleMinutes: number, maxHours: number): string {
  const limits = [
    ...(idleMinutes > 0 ? [`after ${counted(idleMinutes, 'minute')} without a run`] : []),
    ...(maxHours > 0 ? [`${counted(maxHours, 'hour')} after its start`] : []),
  ];
  return limits.length === 0 ? "It doesn't end by itself." : `It ends ${limits.join(', and ')}.`;
}

/** The end of what the server printed, followed while it is up. */
function Log({ name, isLive }: { readonly name: string; readonly isLive: boolean }) {
  const { data, error } = useQuery(
    api.engines.log.queryOptions({ input: { name }, refetchInterval: isLive ? SOON_MS : false }),
  );
  const text = data?.text ?? '';
  const box = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each change of the text
  useEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [text]);
  if (error !== null) return <Failed what="The log can't be shown" error={error} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <pre ref={box} className={classes.log} tabIndex={0} role="log" aria-label={`Log of ${name}`}>
      {data === undefined ? 'Loading …' : text === '' ? 'It has printed nothing.' : text}
    </pre>
  );
}
