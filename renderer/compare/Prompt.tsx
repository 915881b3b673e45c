/** One prompt: its gain and titles, and each model's completion, word by word. */

import { UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ComparedModel, PromptRow } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Aligned } from '../components/Aligned.tsx';
import type { WordKind } from '../components/aligned-words.ts';
import { CompletionText } from '../components/CompletionText.tsx';
import { Conversation } from '../components/Conversation.tsx';
import { DistinctName } from '../components/DistinctName.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, score, signed } from '../components/format.ts';
import type { NameParts } from '../components/tell-apart.ts';
import { visible } from '../components/visible.ts';
import classes from './Compare.module.css';
import { gainOf } from './prompt-rows.ts';

export interface PromptProps {
  readonly id: number;
  readonly row: PromptRow;
  readonly models: readonly ComparedModel[];
  /** Their names, split where they differ. */
  readonly names: readonly NameParts[];
  readonly chosen: number;
  /** Positions of the models whose completions are shown. */
  readonly positions: readonly number[];
  readonly hidden: ReadonlySet<WordKind>;
  readonly open: boolean;
  readonly onToggle: () => void;
}

export function Prompt({ id, row, models, names, chosen, positions, hidden, open, onToggle }: PromptProps) {
  const gain = gainOf(row, chosen);
  const sign = gain === null || Math.abs(gain) < 1e-9 ? 'tie' : gain > 0 ? 'win' : 'loss';
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <>
      <UnstyledButton className={classes.rowHead} aria-expanded={open} onClick={onToggle}>
        <Chevron size={14} aria-hidden="true" />
        <span className={`mono ${classes.gain}`} data-sign={sign}>
          {gain === null ? '–' : signed(gain)}
        </span>
        <span className="mono soft">
          {score(row.scores[0])} → {score(row.scores[chosen])}
        </span>
        <span className={classes.titles}>
          <span className={classes.a}>{row.titles[0]}</span>
          {row.titles[1] !== '' && (
            <>
              {' '}
              × <span className={classes.b}>{row.titles[1]}</span>
            </>
          )}
        </span>
        <span className="faint mono">
          {row.exact[chosen] ? 'exact · ' : ''}
          {row.words > 0 && counted(row.words, 'word')}
        </span>
      </UnstyledButton>
      {open && <Answers {...{ id, models, names, positions, hidden }} recordId={row.id} />}
    </>
  );
}

interface AnswersProps extends Pick<PromptProps, 'id' | 'models' | 'names' | 'positions' | 'hidden'> {
  readonly recordId: string;
}

function Answers({ id, recordId, models, names, positions, hidden }: AnswersProps) {
  const { data, error, refetch } = useQuery(api.comparisons.prompt.queryOptions({ input: { id, recordId } }));
  if (data === undefined && error !== null)
    return <Failed what="These completions can't be shown" error={error} onRetry={() => void refetch()} />;
  return (
    <dl className={classes.answers}>
      {data?.messages !== undefined && (
        <>
          <dt>Prompt</dt>
          <dd>
            <Conversation messages={data.messages} label={`Prompt, ${recordId}`} user="User" />
          </dd>
          {data.target !== '' && (
            <>
              <dt>Reference</dt>
              <dd className="own-direction">{visible(data.target)}</dd>
            </>
          )}
        </>
      )}
      {positions.map((position) => {
        const name = models[position]?.name ?? '';
        const answer = data?.answers[position] ?? null;
        return [
          <dt key={`${position}-name`}>
            <DistinctName parts={names[position] ?? { start: '', end: name }} title={name} />
          </dt>,
          <dd key={position}>
            {data === undefined ? (
              // As tall as a line of words, to avoid a layout shift.
              <span className="faint mono">…</span>
            ) : answer === null ? (
              <span className="faint">not evaluated yet</span>
            ) : answer.words === null || answer.messages !== undefined ? (
              <CompletionText sample={{ ...answer, alignment: null, show: data.show }} label={`${name}, ${recordId}`} />
            ) : (
              <Aligned words={answer.words} label={`${name}, ${recordId}`} hidden={hidden} />
            )}
          </dd>,
        ];
      })}
    </dl>
  );
}
