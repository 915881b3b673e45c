/** Folders outside the workspace that the user has opened to Braid, each with a button that closes it. */
import { Button, Code } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import classes from './Settings.module.css';

/** Renders nothing if there are none. */
export function AllowedFolders() {
  const { data, refetch } = useQuery(api.folders.places.queryOptions({ staleTime: 0 }));
  const forget = useMutation({
    mutationFn: (folder: string) => client.folders.forget({ folder }),
    onSuccess: () => refetch(),
  });
  if (data === undefined || data.allowed.length === 0) return null;
  return (
    <>
      <h3 className={classes.folders}>Folders that you opened to Braid</h3>
      <ul className={classes.allowed}>
        {data.allowed.map((folder) => (
          <li key={folder}>
            <Code>{folder}</Code>
            <Button
              variant="default"
              size="compact-sm"
              aria-label={`Close ${folder}`}
              loading={forget.isPending && forget.variables === folder}
              onClick={() => forget.mutate(folder)}
            >
              Close
            </Button>
          </li>
        ))}
      </ul>
      {forget.error !== null && <Failed what="The folder was not closed" error={forget.error} />}
    </>
  );
}
