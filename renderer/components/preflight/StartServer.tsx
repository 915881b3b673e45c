/** A pre-flight check whose engine's server isn't up: launches it here, and checks again once it answers. */
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, client } from '../../api/client.ts';
import { Failed } from '../Feedback.tsx';
import { Link } from '../Link.tsx';
import classes from './Preflight.module.css';

export interface StartServerProps {
  readonly engine: string;
  /** The server answers. */
  readonly onUp: () => void;
}

const LOOK_MS = 1500;

export function StartServer({ engine: name, onUp }: StartServerProps) {
  const queries = useQueryClient();
  const launch = useMutation({
    mutationFn: () => client.engines.start({ name }),
    // Its state is asked for from then on, also if the first answer is an error.
    onSuccess: (status) => queries.setQueryData(api.engines.look.queryKey({ input: { name } }), status),
  });
  const look = useQuery(
    api.engines.look.queryOptions({
      input: { name },
      // What was known of it before the check may be from before it ended.
      refetchOnMount: 'always',
      refetchInterval: ({ state: { data } }) => (data?.mayBeUp ? LOOK_MS : false),
    }),
  );
  const server = (look.isFetchedAfterMount ? look.data : undefined) ?? null;
  const isUp = server?.state === 'up';
  useEffect(() => {
    if (isUp) onUp();
  }, [isUp, onUp]);
  const isComing = launch.isPending || (server?.mayBeUp ?? false);
  return (
    <div className={classes.server}>
      <Button loading={isComing} onClick={() => launch.mutate()}>
        Launch server of {name}
      </Button>
      {server !== null && (
        <span role="status">
          {server.detail}. <Link href="/settings">Its log is in Settings, Engines.</Link>
        </span>
      )}
      {launch.error !== null && <Failed what="The server was not launched" error={launch.error} />}
    </div>
  );
}
