/** Engines: servers elsewhere that sample and train. Keys are entered here and never shown. */
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { EngineTest, EngineView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { EngineForm } from './EngineForm.tsx';
import { EngineServer } from './EngineServer.tsx';
import { SecretForm } from './SecretForm.tsx';
import classes from './Settings.module.css';

export function EnginesPanel() {
  const { data, error, refetch } = useQuery(api.engines.list.queryOptions());
  const [edited, setEdited] = useState<EngineView | 'new' | null>(null);
  if (data === undefined)
    return error === null ? (
      <Loading what="the engines" />
    ) : (
      <Failed what="The engines can't be listed" error={error} onRetry={() => void refetch()} />
    );
  const { engines, mayLaunch } = data;
  return (
    <Panel title="Engines" className={classes.panel ?? ''}>
      <p className={classes.about}>
        A stage can be sampled and trained on a server elsewhere that speaks the Tinker protocol: your own GPUs or Ray
        cluster, or a hosted service. Datasets, rewards and history stay here; prompts and completions travel.
      </p>
      {engines.map((engine) => (
        <Engine
          key={engine.name}
          engine={engine}
          // The form may hold entries of another one.
          onEdit={edited === null ? () => setEdited(engine) : null}
        />
      ))}
      {edited === null ? (
        <Button variant="default" mt="xs" onClick={() => setEdited('new')}>
          Add engine
        </Button>
      ) : (
        <EngineForm
          key={edited === 'new' ? '' : edited.name}
          engine={edited === 'new' ? null : edited}
          mayLaunch={mayLaunch}
          onDone={() => setEdited(null)}
        />
      )}
    </Panel>
  );
}

interface EngineProps {
  readonly engine: EngineView;
  /** null: not now. */
  readonly onEdit: (() => void) | null;
}

function Engine({ engine, onEdit }: EngineProps) {
  const { name, baseModel, url, hasKey, allowPlain } = engine;
  const [isRemoving, setRemoving] = useState(false);
  const queries = useQueryClient();
  const test = useMutation({ mutationFn: () => client.engines.test({ name }) });
  const remove = useMutation({
    mutationFn: () => client.engines.remove({ name }),
    onSuccess: (now) => queries.setQueryData(api.engines.list.queryKey(), now),
  });
  return (
    <section className={classes.engine} aria-label={`Engine ${name}`}>
      <div>
        <strong>{name}</strong>
        <p>
          {baseModel} at {url}
          {hasKey ? ', with a key' : ''}
          {allowPlain && url.startsWith('http:') ? ', unencrypted' : ''}
        </p>
        {test.data !== undefined && <p role="status">{found(test.data)}</p>}
        {test.error !== null && <Failed what="The test failed" error={test.error} />}
        <SecretForm
          label={`Key of ${name}`}
          noun="key"
          placeholder={hasKey ? 'A key is saved' : 'Key, if it needs one'}
          isKept={hasKey}
          send={(key) => client.engines.setKey({ name, key })}
          queryKey={api.engines.list.queryKey()}
        />
      </div>
      <div>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test
        </Button>
        <Button variant="default" disabled={onEdit === null} onClick={() => onEdit?.()}>
          Edit
        </Button>
        <Button variant="default" onClick={() => setRemoving(true)}>
          Remove …
        </Button>
      </div>
      <Confirm
        opened={isRemoving}
        title={`Remove ${name}?`}
        action="Remove"
        dangerous
        mutation={remove}
        onClose={() => setRemoving(false)}
      >
        <p>
          Its address, model{engine.launcher === null ? ' and prices' : ', prices and launch command'} are deleted. The
          history of its runs stays{hasKey ? ', and so does its key' : ''}.
        </p>
      </Confirm>
      {(engine.launcher !== null || engine.server?.mayBeUp) && <EngineServer engine={engine} />}
    </section>
  );
}

function found({ completions, tokens, sampleSeconds, stepSeconds, words }: EngineTest): string {
  return `It works: ${counted(completions, 'completion')} of ${counted(tokens, 'token')} in ${sampleSeconds.toFixed(2)} s, a step on them in ${stepSeconds.toFixed(2)} s. ${words}`;
}
