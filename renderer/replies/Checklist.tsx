/** The list before the long runs: what is checked here, and what only the person can say. */
import { Checkbox } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TickName } from '../../main/services/replies/checklist.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { Checks } from './Checks.tsx';
import classes from './Replies.module.css';
import { checklistVerdicts, standing, tickWords } from './words.ts';

export function Checklist({ seed }: { readonly seed: number }) {
  const { data, error } = useQuery({
    ...api.replies.checklist.queryOptions({ input: { seed } }),
    placeholderData: (before) => before,
  });
  const queries = useQueryClient();
  const tick = useMutation({
    mutationFn: (input: { readonly name: TickName; readonly ticked: boolean }) => client.replies.tick(input),
    // At work until the list says the same, so that the box does not fall back in between.
    onSuccess: () => queries.invalidateQueries({ queryKey: api.replies.checklist.key() }),
  });
  const said = tick.isPending ? tick.variables : null;
  return (
    <Panel
      title="Before the long runs"
      actions={
        data !== undefined && (
          <span className={classes.ready} data-ready={data.ready}>
            {standing(data)}
          </span>
        )
      }
    >
      {error !== null && <Failed what="The list can't be gone through" error={error} />}
      {tick.error !== null && <Failed what="That was not noted" error={tick.error} />}
      {data === undefined && error === null && <Loading what="the checks" />}
      {data !== undefined && (
        <div className={classes.checklist}>
          <Checks checks={checklistVerdicts(data.items)} />
          <fieldset className={classes.ticks}>
            <legend>What only you can say</legend>
            {data.ticks.map(({ name, ticked }) => (
              <Checkbox
                key={name}
                size="xs"
                label={tickWords[name]}
                checked={said?.name === name ? said.ticked : ticked}
                onChange={(event) => tick.mutate({ name, ticked: event.currentTarget.checked })}
              />
            ))}
          </fieldset>
        </div>
      )}
    </Panel>
  );
}
