/** The Hugging Face token, for gated and private models. */
import { useQuery } from '@tanstack/react-query';
import type { HubAccess } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { SecretForm } from './SecretForm.tsx';
import classes from './Settings.module.css';

export function HubPanel() {
  const { data: access, error, refetch } = useQuery(api.models.hubAccess.queryOptions());
  if (access === undefined)
    return error === null ? (
      <Loading what="the Hugging Face token's state" />
    ) : (
      <Failed what="The Hugging Face token's state can't be read" error={error} onRetry={() => void refetch()} />
    );
  return (
    <Panel title="Hugging Face" className={classes.panel ?? ''}>
      <p className={classes.about}>
        Gated models, such as Llama, need a token of an account that has accepted their terms. {sourceWords(access)}
      </p>
      <SecretForm
        label="Hugging Face token"
        noun="token"
        placeholder="hf_…"
        isKept={access.source === 'braid'}
        send={(token) => client.models.setHubToken({ token })}
        queryKey={api.models.hubAccess.queryKey()}
      />
      <p className={classes.about}>
        {access.isEncrypted
          ? 'Kept encrypted by the key store of this system.'
          : 'Kept in a file that only your user can read.'}{' '}
        It is sent to Hugging Face alone, and never written into the workspace or a run.
      </p>
    </Panel>
  );
}

function sourceWords({ source }: HubAccess): string {
  switch (source) {
    case 'braid':
      return 'One is saved here.';
    case 'environment':
      return 'The one in HF_TOKEN is used; one saved here takes precedence over it.';
    case 'huggingface-cli':
      return 'The one of your Hugging Face login is used; one saved here takes precedence over it.';
    case null:
      return 'None known.';
  }
}
