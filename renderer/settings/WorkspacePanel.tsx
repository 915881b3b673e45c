/** Where everything is kept, and how to open another workspace. */
import { Button, Code, CopyButton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { AllowedFolders } from './AllowedFolders.tsx';
import classes from './Settings.module.css';

export function WorkspacePanel() {
  const { data: info, error, refetch } = useQuery(api.app.info.queryOptions());
  const open = useMutation({ mutationFn: () => client.app.openWorkspace() });
  const reveal = useMutation({ mutationFn: (path: string) => client.app.reveal({ path }) });
  if (info === undefined)
    return error === null ? (
      <Loading what="the workspace" />
    ) : (
      <Failed what="The workspace can't be shown" error={error} onRetry={() => void refetch()} />
    );
  const { workspace, host, version } = info;
  return (
    <Panel title="Workspace" className={classes.panel ?? ''}>
      <p className={classes.about}>The database, datasets, models and outputs of runs are all in this folder.</p>
      <div className={classes.path}>
        <Code>{workspace}</Code>
        <CopyButton value={workspace}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy path'}
            </Button>
          )}
        </CopyButton>
        {host === 'electron' && (
          <>
            <Button variant="default" onClick={() => reveal.mutate(workspace)}>
              Show folder
            </Button>
            <Button variant="default" onClick={() => open.mutate()}>
              Open another …
            </Button>
          </>
        )}
      </div>
      {(open.error ?? reveal.error) !== null && <Failed error={open.error ?? reveal.error} />}
      <AllowedFolders />
      {host === 'serve' && (
        <p className={classes.about}>
          To open another workspace, run <Code>braid serve --workspace FOLDER</Code>. Live runs are saved when this
          server stops.
        </p>
      )}
      <p className={classes.about}>
        Braid {version}, {host === 'serve' ? 'in the browser' : 'on the desktop'}
      </p>
    </Panel>
  );
}
