/** The Hugging Face token, for gated and private models. */
import { Button, PasswordInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { HubAccess } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import classes from './Settings.module.css';

export function HubPanel() {
  const { data: access } = useQuery(api.models.hubAccess.queryOptions());
  const queries = useQueryClient();
  const [token, setToken] = useState('');
  const keep = useMutation({
    mutationFn: (value: string | null) => client.models.setHubToken({ token: value }),
    onSuccess: (now) => {
      queries.setQueryData(api.models.hubAccess.queryKey(), now);
      setToken('');
    },
  });
  if (access === undefined) return null;
  return (
    <Panel title="Hugging Face" className={classes.panel ?? ''}>
      <p className={classes.about}>
        Gated models, such as Llama, need a token of an account that has accepted their terms. {sourceWords(access)}
      </p>
      <form
        className={classes.path}
        onSubmit={(event) => {
          event.preventDefault();
          keep.mutate(token.trim());
        }}
      >
        <PasswordInput
          aria-label="Hugging Face token"
          placeholder="hf_…"
          autoComplete="off"
          w={320}
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={token.trim() === ''} loading={keep.isPending}>
          {access.source === 'braid' ? 'Replace' : 'Keep'}
        </Button>
        {access.source === 'braid' && (
          <Button variant="default" onClick={() => keep.mutate(null)}>
            Forget
          </Button>
        )}
      </form>
      <p className={classes.about}>
        {access.isEncrypted
          ? 'Kept encrypted by the key store of this system.'
          : 'Kept in a file that only your user can read.'}{' '}
        It is sent to Hugging Face alone, and never written into the workspace or a run.
      </p>
      {keep.error !== null && <Failed what="The token was not kept" error={keep.error} />}
    </Panel>
  );
}

function sourceWords({ source }: HubAccess): string {
  switch (source) {
    case 'braid':
      return 'One is kept here.';
    case 'environment':
      return 'The one in HF_TOKEN is used; one kept here goes before it.';
    case 'huggingface-cli':
      return 'The one of your Hugging Face login is used; one kept here goes before it.';
    case null:
      return 'None is known.';
  }
}
