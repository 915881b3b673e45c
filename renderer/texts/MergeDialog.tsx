/** Merges short texts into longer ones, with a preview first. */

import { Button, Modal, TextInput } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import type { JoinPreview, TextHeading } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { beginning } from '../components/beginning.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { Segments } from '../components/Segments.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import styles from './Merge.module.css';
import { StageChanges } from './StageChanges.tsx';
import { stageWords } from './stages.ts';
import { suggestJoin } from './suggest-join.ts';
import classes from './Texts.module.css';

export interface MergeDialogProps {
  readonly texts: readonly TextHeading[];
  /** The selected texts; with fewer than two, groups are suggested. */
  readonly ids: readonly number[];
  /** `merged`: ids of the merged texts. */
  readonly onClose: (told?: string, merged?: readonly number[]) => void;
}

interface Group {
  readonly title: string;
  readonly ids: readonly number[];
}

export function MergeDialog({ texts, ids, onClose }: MergeDialogProps) {
  const suggesting = ids.length < 2;
  const [words, setWords] = useState<number>(500);
  const [count, setCount] = useState(4);
  const [titles, setTitles] = useState<Readonly<Record<string, string>>>({});
  const parts = useMemo(
    () => (suggesting ? suggestJoin(texts, words, count) : [texts.filter(({ id }) => ids.includes(id))]),
    [suggesting, texts, words, count, ids],
  );
  const groups = parts.map((group): Group => {
    const key = group.map(({ id }) => id).join();
    return { ids: group.map(({ id }) => id), title: titles[key] ?? titleOf(group) };
  });
  const wanted = JSON.stringify(groups);
  const asked = useDeferredValue(wanted);
  const settling = asked !== wanted;
  const input = useMemo(() => ({ groups: mutable(JSON.parse(asked) as Group[]) }), [asked]);
  const valid = groups.length > 0 && groups.every(({ title }) => title.trim() !== '');
  const preview = useQuery(
    api.texts.previewJoin.queryOptions({ input, enabled: valid, placeholderData: keepPreviousData, gcTime: 0 }),
  );
  const canMerge = valid && preview.data !== undefined && preview.error === null;
  const join = useMutation(
    api.texts.join.mutationOptions({ onSuccess: (done) => onClose(resultText(done), done.ids) }),
  );
  // Each title that was typed, also one that was typed back: the groups may have changed since.
  const isChanged = Object.keys(titles).length > 0;
  const { ask, question } = useDiscardQuestion({ isChanged: () => isChanged, close: onClose });
  const textCount = groups.reduce((sum, group) => sum + group.ids.length, 0);
  return (
    <>
      <Modal
        opened
        onClose={() => ask(onClose)}
        size={760}
        title="Merge texts"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {suggesting && (
          <div className={styles.mergeFor}>
            <span id="merge-for">To get more texts for the stage of</span>
            <Segments
              aria-labelledby="merge-for"
              data={stageWords.slice(1).map(String)}
              value={String(words)}
              onChange={(value) => setWords(Number(value))}
            />
            <span>words, merge into up to</span>
            <BoundedNumber aria-label="Merged texts" w={64} min={1} max={200} value={count} onChange={setCount} />
            <span>texts</span>
          </div>
        )}
        {groups.length === 0 && (
          <p className="soft">
            The remaining texts below {counted(words, 'word')} don't add up to that length. Import more texts, or choose
            a shorter stage.
          </p>
        )}
        <ol className={styles.groups}>
          {parts.map((group, i) => (
            <MergeGroup
              key={group.map(({ id }) => id).join()}
              {...{ group }}
              title={groups[i]?.title ?? ''}
              joined={preview.isPlaceholderData ? undefined : preview.data?.joined[i]}
              onTitle={(title) => setTitles({ ...titles, [group.map(({ id }) => id).join()]: title })}
            />
          ))}
        </ol>
        {preview.error !== null && <Failed what="This can't be merged" error={preview.error} />}
        {valid &&
          (preview.data === undefined ? (
            preview.error === null && <Loading what="the preview" />
          ) : (
            <StageChanges stages={preview.data.stages} stale={preview.isPlaceholderData || settling} />
          ))}
        {join.error !== null && <Failed what="Nothing was merged" error={join.error} />}
        <p className="soft">Each merged text replaces its parts and contains all of their words, in this order.</p>
        <div className={classes.dialogEnd}>
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button
            // While it is disabled it can't take the focus, which would stay behind the dialog.
            data-autofocus={canMerge || undefined}
            disabled={!canMerge}
            loading={join.isPending}
            onClick={() => join.mutate({ groups: mutable(groups) })}
          >
            {groups.length === 0 ? 'Merge' : `Merge ${counted(textCount, 'text')} into ${groups.length}`}
          </Button>
        </div>
      </Modal>
      {question}
    </>
  );
}

function mutable(groups: readonly Group[]) {
  return groups.map(({ ids, title }) => ({ ids: [...ids], title: title.trim() }));
}

function titleOf(group: readonly TextHeading[]): string {
  const first = group[0]?.title ?? '';
  return `${beginning(first, 90)} and ${group.length - 1} more`;
}

function resultText({ joined }: JoinPreview): string {
  const done = joined.filter(({ leftOut }) => !leftOut);
  const parts = done.reduce((sum, text) => sum + text.parts.length, 0);
  const left = joined.length - done.length;
  return `${counted(parts, 'text')} merged into ${done.length}${left > 0 ? `; ${counted(left, 'skipped as a duplicate', 'skipped as duplicates')}` : ''}.`;
}

interface MergeGroupProps {
  readonly group: readonly TextHeading[];
  readonly title: string;
  readonly joined: JoinPreview['joined'][number] | undefined;
  readonly onTitle: (title: string) => void;
}

function MergeGroup({ group, title, joined, onTitle }: MergeGroupProps) {
  const words = group.reduce((sum, text) => sum + text.words, 0);
  return (
    <li>
      <TextInput
        aria-label={`Title of the merged text of ${group.length}`}
        value={title}
        maxLength={120}
        error={title.trim() === '' ? 'Enter a title' : undefined}
        onChange={({ currentTarget }) => onTitle(currentTarget.value)}
        rightSection={<span className="mono soft">{number(words)}</span>}
        rightSectionWidth={64}
      />
      <p className="soft num">{group.map((text) => `${text.title} (${number(text.words)})`).join(' + ')}</p>
      {joined !== undefined && joined.duplicates.length > 0 && (
        <p className={classes.warn}>
          {Math.round((joined.duplicates[0]?.similarity ?? 0) * 100)}% similar to “{joined.duplicates[0]?.resembles}”:{' '}
          {joined.leftOut ? 'it is skipped, and its parts are kept' : 'that shorter text is deleted, too'}.
        </p>
      )}
    </li>
  );
}
