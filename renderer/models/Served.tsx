/** A model at an OpenAI-compatible address: how far it is, address and key, and how to stop it. */
import { Button, Code, CopyButton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ServedModel } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Models.module.css';

/** Whether and how a model is served, and what changes that. */
export function useServed(ref: string) {
  const { data } = useQuery(api.models.served.queryOptions());
  const start = useMutation({ mutationFn: () => client.models.serve({ ref }) });
  const stop = useMutation({ mutationFn: () => client.models.stopServing({ ref }) });
  return { model: data?.find((one) => one.ref === ref), start, stop };
}

export function Served({ served: { model, start, stop } }: { readonly served: ReturnType<typeof useServed> }) {
  if (model === undefined) return start.error && <Failed what="The model can't be served" error={start.error} />;
  const { state } = model;
  const end = (words: string) => (
    <Button size="compact-xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
      {words}
    </Button>
  );
  return (
    <section className={classes.served} aria-label="OpenAI-compatible address">
      {state.kind === 'waiting' && (
        <p role="status">
          <span>{state.why}</span>
          {end('Cancel')}
        </p>
      )}
      {state.kind === 'failed' && (
        <div role="alert">
          <p>The model can't be served: {state.message}</p>
          {state.remedy !== null && <p className="soft">{state.remedy}</p>}
          <Button size="compact-xs" variant="default" loading={start.isPending} onClick={() => start.mutate()}>
            Try again
          </Button>{' '}
          {end('Dismiss')}
        </div>
      )}
      {state.kind === 'ready' && <Ready model={model} state={state} stop={end('Stop')} />}
      {stop.error !== null && <Failed what="It wasn't stopped" error={stop.error} />}
    </section>
  );
}

interface ReadyProps {
  readonly model: ServedModel;
  readonly state: Extract<ServedModel['state'], { kind: 'ready' }>;
  readonly stop: React.ReactNode;
}

function Ready({ model: { name }, state: { address, key }, stop }: ReadyProps) {
  const rows = [
    ['Address', address],
    ['Key', key],
    ['Model', name],
  ] as const;
  return (
    <>
      <p role="status">
        <span>Served to OpenAI clients on this machine</span>
        {stop}
      </p>
      <dl className={classes.facts}>
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Code>{value}</Code> <Copy value={value} what={label.toLowerCase()} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Copy({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="subtle" aria-label={`${copied ? 'Copied' : 'Copy'}: ${what}`} onClick={copy}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  );
}
