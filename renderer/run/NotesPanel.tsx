/** What the user writes about a run: tags to find it by, and notes. Both are saved when the field is left. */
import { TagsInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { memo, useEffect, useState } from 'react';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { allRuns } from '../runs/all-runs.ts';
import classes from './Run.module.css';

export interface NotesPanelProps {
  readonly runId: number;
  readonly notes: string;
  readonly tags: readonly string[];
}

export const NotesPanel = memo(function NotesPanel({ runId, notes, tags }: NotesPanelProps) {
  const [draft, setDraft] = useState(notes);
  // Another page may have written them.
  useEffect(() => setDraft(notes), [notes]);
  const { data: runs = [] } = useQuery(api.runs.list.queryOptions({ input: allRuns }));
  const queries = useQueryClient();
  // What was chosen last, until the host has it: tags that follow quickly build on each other.
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const save = useMutation({
    mutationFn: (change: { readonly notes?: string; readonly tags?: string[] }) =>
      client.runs.annotate({ runId, ...change }),
    // Saved one after the other, so that the last choice is the one that stays.
    scope: { id: `annotate-${runId}` },
    onSettled: async (_saved, _error, { tags: settled }) => {
      if (settled === undefined) return;
      await queries.refetchQueries({ queryKey: api.runs.get.key({ input: { runId } }) });
      setChosen((newest) => (newest === settled ? null : newest));
    },
  });
  const shown = chosen ?? tags;
  return (
    <Panel title="Notes and tags">
      <TagsInput
        aria-label="Tags"
        placeholder={shown.length === 0 ? 'Add a tag' : ''}
        data={[...new Set(runs.flatMap((run) => run.tags))].sort()}
        maxTags={20}
        maxLength={40}
        value={[...shown]}
        onChange={(next) => {
          setChosen(next);
          save.mutate({ tags: next });
        }}
      />
      <textarea
        className={`box ${classes.ownNotes}`}
        aria-label="Notes"
        dir="auto"
        placeholder="What was tried, what came out"
        rows={2}
        maxLength={20_000}
        value={draft}
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
        onBlur={() => draft !== notes && save.mutate({ notes: draft })}
      />
      {save.error !== null && <Failed what="The notes were not saved" error={save.error} />}
    </Panel>
  );
});
