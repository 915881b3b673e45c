/** The native backend: its status, and the same set-up as on the command line, with progress. */
import { useQuery } from '@tanstack/react-query';
import type { NativeState } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { JobProgress } from '../components/JobProgress.tsx';
import { Panel } from '../components/Screen.tsx';
import { NativeForm } from './NativeForm.tsx';
import classes from './Settings.module.css';

const JOB_KINDS = ['native-setup'];

export function NativePanel() {
  const { data, error, refetch } = useQuery(api.native.state.queryOptions());
  const { data: status } = useQuery(api.app.status.queryOptions());
  if (error !== null)
    return <Failed what="The native backend can't be shown" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the native backend" />;
  const running = status?.jobs.some(({ kind, state }) => JOB_KINDS.includes(kind) && state === 'running') ?? false;
  return (
    <Panel title="Native backend" className={classes.panel ?? ''}>
      <p className={classes.about}>
        TensorFlow for real models, on an NVIDIA GPU if there is one. The embedded backend doesn't need it.
      </p>
      <Standing state={data} />
      <JobProgress kinds={JOB_KINDS} />
      {data.unsupported === null ? (
        <NativeForm again={data.manifest !== null} busy={running} />
      ) : (
        <p className="soft">{data.unsupported}.</p>
      )}
    </Panel>
  );
}

function Standing({ state: { manifest, folder } }: { readonly state: NativeState }) {
  return (
    <dl className={classes.standing}>
      <dt>Set up</dt>
      <dd>{manifest === null ? 'not yet' : `TensorFlow ${manifest.tensorflow}, ${flavour(manifest.cuda)}`}</dd>
      {manifest !== null && (
        <>
          <dt>From</dt>
          <dd>{manifest.source}</dd>
        </>
      )}
      <dt>Folder</dt>
      <dd>
        <code>{folder}</code>
      </dd>
    </dl>
  );
}

function flavour(cuda: boolean): string {
  return cuda ? 'CUDA build' : 'CPU build';
}
