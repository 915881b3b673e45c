/** The checklist before long runs: automatic checks, and points that only the user can confirm. */
import { Checkbox } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TickName } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { Checks } from './Checks.tsx';
import classes from './Replies.module.css';
import { checklistVerdicts, standing, tickWords } from './words.ts';

export function Checklist({ seed }: { readonly seed: number }) {
  const { data, error, refetch } = useQuery({
    ...api.replies.checklist.queryOptions({ input: { seed } }),
    placeholderData: (before) => before,
  });
  const queries = useQueryClient();
  const tick = useMutation({
    mutationFn: (input: { readonly name: TickName; readonly ticked: boolean }) => client.replies.tick(input),
    // Pending until the list is refetched, so that the checkbox doesn't flip back in between.
    onSuccess: () => queries.invalidateQueries({ queryKey: api.replies.checklist.key() }),
  });
  const pending = tick.isPending ? tick.variables : null;
  return (
    <Panel
      title="Checklist for long runs"
      actions={
        data !== undefined && (
          <span className={classes.ready} data-ready={data.ready}>
            {standing(data)}
          </span>
        )
      }
    >
      {error !== null && <Failed what="The checklist can't be loaded" error={error} onRetry={() => void refetch()} />}
      {tick.error !== null && <Failed what="The change was not saved" error={tick.error} />}
      {data === undefined && error === null && <Loading what="the checks" />}
      {data !== undefined && (
        <div className={classes.checklist}>
          <Checks checks={checklistVerdicts(data.items)} />
          <fieldset className={classes.ticks}>
            <legend>To confirm yourself</legend>
            {data.ticks.map(({ name, ticked }) => (
              <Checkbox
                key={name}
                size="xs"
                label={tickWords[name]}
                checked={pending?.name === name ? pending.ticked : ticked}
                onChange={(event) => tick.mutate({ name, ticked: event.currentTarget.checked })}
              />
            ))}
          </fieldset>
        </div>
      )}
    </Panel>
  );
}
