/** Splits a manuscript at its headings, with a preview of the pieces. */
import { Button, Modal, Select } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { HeadingRule, SplitPreview } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import styles from './Split.module.css';
import { StageChanges } from './StageChanges.tsx';
import classes from './Texts.module.css';

export interface SplitDialogProps {
  readonly id: number;
  readonly title: string;
  readonly onClose: (told?: string) => void;
}

const rules: Readonly<Record<HeadingRule, string>> = {
  'markdown-1': 'Markdown headings, level 1',
  'markdown-2': 'Markdown headings, levels 1 and 2',
  'markdown-3': 'Markdown headings, levels 1 to 3',
  chapters: '“Chapter 1”, “Part two”, “IV.” …',
  capitals: 'Lines in capitals',
  lines: 'Short lines on their own',
};

const MIN_WORDS = 20;

export function SplitDialog({ id, title, onClose }: SplitDialogProps) {
  const [rule, setRule] = useState<HeadingRule | null>(null);
  const [minWords, setMinWords] = useState(MIN_WORDS);
  const input = { id, rule, minWords };
  const preview = useQuery(
    api.texts.previewSplit.queryOptions({ input, placeholderData: keepPreviousData, gcTime: 0 }),
  );
  const split = useMutation(
    api.texts.split.mutationOptions({
      onSuccess: ({ pieces }) => {
        const made = pieces.filter(({ leftOut }) => !leftOut).length;
        onClose(`“${title}” was split into ${counted(made, 'text')}.`);
      },
    }),
  );
  const { ask, question } = useDiscardQuestion({
    isChanged: () => rule !== null || minWords !== MIN_WORDS,
    close: onClose,
  });
  const shown = preview.data;
  const used = rule ?? shown?.rule ?? null;
  const enough = shown !== undefined && shown.pieces.length > 1;
  return (
    <>
      <Modal
        opened
        onClose={() => ask(onClose)}
        size={760}
        title={`Split “${title}”`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {preview.error !== null && <Failed what="This can't be split" error={preview.error} />}
        {shown === undefined && preview.error === null && <Loading what="the headings" />}
        {shown !== undefined && (
          <>
            <div className={styles.options}>
              <Select
                label="Split at"
                className={styles.rule ?? ''}
                placeholder="No headings found"
                allowDeselect={false}
                comboboxProps={{ withinPortal: true }}
                data={Object.entries(shown.headings).map(([value, count]) => ({
                  value,
                  label: `${rules[value as HeadingRule]} (${number(count)})`,
                  disabled: count === 0,
                }))}
                value={used}
                onChange={(value) => setRule(value as HeadingRule | null)}
              />
              <BoundedNumber
                label="Shortest piece, in words"
                description="Shorter ones join the next"
                w={170}
                min={1}
                max={100_000}
                value={minWords}
                onChange={setMinWords}
              />
            </div>
            {enough ? (
              <Pieces pieces={shown.pieces} stale={preview.isPlaceholderData} />
            ) : (
              <p className="soft">
                {used === null
                  ? 'No headings were found in this text. Edit it and put each heading on a line of its own, for example “# The river”.'
                  : 'These headings give a single piece. Choose others, or a smaller shortest piece.'}
              </p>
            )}
            {enough && <StageChanges stages={shown.stages} stale={preview.isPlaceholderData} />}
          </>
        )}
        {split.error !== null && <Failed what="Nothing was changed" error={split.error} />}
        <p className="soft">
          The pieces replace the text. They keep its tags, and its side of the split: pieces of a held-out text stay
          held out.
        </p>
        <div className={classes.dialogEnd}>
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button
            disabled={!enough || used === null || preview.isPlaceholderData}
            loading={split.isPending}
            onClick={() => used !== null && split.mutate({ id, rule: used, minWords })}
          >
            {enough ? `Split into ${counted(shown.pieces.length, 'text')}` : 'Split'}
          </Button>
        </div>
      </Modal>
      {question}
    </>
  );
}

function Pieces({ pieces, stale }: { readonly pieces: SplitPreview['pieces']; readonly stale: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={styles.pieces} tabIndex={0} aria-label="Pieces" aria-busy={stale}>
      <ol>
        {pieces.slice(0, SHOWN).map(({ title, words, beginning, duplicates, leftOut }) => (
          <li key={title}>
            <strong>{title}</strong> <span className="soft num">{counted(words, 'word')}</span>
            <span className="faint own-direction">{beginning}</span>
            {duplicates[0] !== undefined && (
              <span className={classes.warn}>
                {Math.round(duplicates[0].similarity * 100)}% similar to “{duplicates[0].resembles}”:{' '}
                {leftOut ? 'skipped, because that text stays' : 'replaces that shorter text'}
              </span>
            )}
          </li>
        ))}
      </ol>
      {pieces.length > SHOWN && <p className="soft num">and {number(pieces.length - SHOWN)} more</p>}
    </section>
  );
}

/** Pieces that are listed: a dictionary has thousands of headings. */
const SHOWN = 200;
