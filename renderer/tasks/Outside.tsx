/** The components of a reward that reward.ts doesn't compute: what they reach, whether that was agreed to, their keys. */
import { Button, PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { OutsideComponent } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Outside.module.css';
import type { Draft } from './use-draft.ts';

export interface OutsideProps {
  readonly draft: Draft;
  readonly components: readonly OutsideComponent[];
}

export function Outside({ draft, components }: OutsideProps) {
  return (
    <section className={classes.outside} aria-label="Outside the sandbox">
      {components.map((component) => (
        <Component key={component.name} draft={draft} component={component} />
      ))}
    </section>
  );
}

function Component({ draft, component }: { readonly draft: Draft; readonly component: OutsideComponent }) {
  const { name, kind, reach, files, keyFor, hasKey } = component;
  const [editsKey, setEditsKey] = useState(false);
  const queries = useQueryClient();
  const checkAgain = (): void => void queries.invalidateQueries({ queryKey: api.tasks.check.key() });
  const allow = useMutation({
    mutationFn: () => client.tasks.allow({ draft, component: name }),
    onSuccess: checkAgain,
  });
  const asks = reach !== null && !reach.isAllowed;
  return (
    <article aria-label={name} className={classes.component} data-asks={asks || undefined}>
      <header>
        <strong className="mono">{name}</strong>
        <span className="soft">{kind}</span>
        <span className={classes.state}>
          {reach === null ? 'stays here' : reach.isAllowed ? 'allowed' : 'not allowed'}
        </span>
      </header>
      <p>{reach === null ? 'Computed by a model in this workspace.' : `It ${reach.text}.`}</p>
      {reach?.isPlain === true && <p className={classes.warning}>Unencrypted: anyone on the way can read it.</p>}
      {Object.entries(files).map(([file, text]) => (
        <details key={file}>
          <summary>Show {file}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too */}
          <pre tabIndex={0}>{text}</pre>
        </details>
      ))}
      <div className={classes.buttons}>
        {asks && (
          <Button
            variant="default"
            aria-label={`Allow … ${name}`}
            loading={allow.isPending}
            onClick={() => allow.mutate()}
          >
            Allow …
          </Button>
        )}
        {keyFor !== null && !editsKey && (
          <Button
            variant="default"
            aria-label={`${hasKey ? 'Change its key …' : 'Add a key …'} ${name}`}
            onClick={() => setEditsKey(true)}
          >
            {hasKey ? 'Change its key …' : 'Add a key …'}
          </Button>
        )}
      </div>
      {allow.error !== null && asks && <Failed what="Not allowed yet" error={allow.error} onRetry={checkAgain} />}
      {editsKey && keyFor !== null && (
        <KeyForm
          address={keyFor}
          onDone={() => {
            setEditsKey(false);
            checkAgain();
          }}
        />
      )}
    </article>
  );
}

function KeyForm({ address, onDone }: { readonly address: string; readonly onDone: () => void }) {
  const [key, setKey] = useState('');
  const save = useMutation({
    mutationFn: (value: string | null) => client.tasks.setKey({ address, key: value }),
    onSuccess: onDone,
  });
  return (
    <SubmitForm className={classes.key} onSubmit={() => save.mutate(key.trim())}>
      <PasswordInput
        label={`Key for ${address}`}
        description="Kept among your keys, never in the task, a run or the workspace"
        value={key}
        onChange={({ currentTarget }) => setKey(currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      {save.error !== null && <Failed what="The key was not kept" error={save.error} />}
      <div className={classes.buttons}>
        <Button type="submit" disabled={key.trim() === ''} loading={save.isPending}>
          Keep the key
        </Button>
        <Button variant="default" onClick={() => save.mutate(null)}>
          Forget it
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </SubmitForm>
  );
}
