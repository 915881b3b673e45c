/** What the user writes about a run: tags to find it by, and notes. Tags are saved at once, notes while typing. */
import { TagsInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { api, client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import { useKeptText } from '../components/use-kept-text.ts';
import { useAllRuns } from '../runs/use-all-runs.ts';
import classes from './Run.module.css';

export interface NotesPanelProps {
  readonly runId: number;
  /** In ms. With it, a draft isn't taken for that of another run: a new workspace counts from 1 again. */
  readonly createdAt: number;
  readonly notes: string;
  readonly tags: readonly string[];
}

export const NotesPanel = memo(function NotesPanel({ runId, createdAt, notes, tags }: NotesPanelProps) {
  const { data: runs = [] } = useAllRuns();
  const queries = useQueryClient();
  // What was chosen last, until the host has it: tags that follow quickly build on each other.
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  // Saved one after the other, so that the last choice is the one that stays.
  const scope = { id: `annotate-${runId}` };
  const saveTags = useMutation({
    mutationFn: (next: string[]) => client.runs.annotate({ runId, tags: next }),
    scope,
    onSettled: async (_saved, _error, settled) => {
      await queries.refetchQueries({ queryKey: api.runs.get.key({ input: { runId } }) });
      setChosen((newest) => (newest === settled ? null : newest));
    },
  });
  const saveNotes = useMutation({
    mutationFn: (text: string) => client.runs.annotate({ runId, notes: text }),
    scope,
  });
  const field = useKeptText({
    draftKey: `braid.notes.${runId}.${createdAt}`,
    stored: notes,
    save: saveNotes.mutateAsync,
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
          saveTags.mutate(next);
        }}
      />
      <textarea
        className={`box ${classes.ownNotes}`}
        aria-label="Notes"
        dir="auto"
        placeholder="What was tried, what came out"
        rows={2}
        maxLength={20_000}
        value={field.text}
        onChange={({ currentTarget }) => field.change(currentTarget.value)}
        onBlur={field.flush}
      />
      {saveTags.error !== null && <Failed what="The tags were not saved" error={saveTags.error} />}
      {saveNotes.error !== null && (
        <Failed what="The notes were not saved" error={saveNotes.error} onRetry={field.flush} />
      )}
    </Panel>
  );
});
