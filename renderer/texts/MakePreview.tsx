/** The preview of a recipe: the records of one of its stages, and whether its test side is held out. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DatasetPreview } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { counted, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { Segments } from '../components/Segments.tsx';
import { LeakageNote } from './LeakageNote.tsx';
import classes from './Make.module.css';
import { RecordCard } from './RecordCard.tsx';
import type { Recipe } from './recipe.ts';

export interface MakePreviewProps {
  readonly recipe: Recipe;
  /** The stage shown; null if none is selected. */
  readonly words: number | null;
  readonly onWords: (words: number) => void;
}

const SHOWN = 12;

export function MakePreview({ recipe, words, onWords }: MakePreviewProps) {
  const { train, test, seed, template } = recipe;
  const preview = useQuery(
    api.datasets.preview.queryOptions({
      input: { train, test, seed, template, words: words ?? 1, show: SHOWN },
      enabled: words !== null,
      placeholderData: keepPreviousData,
    }),
  );
  const stages = (
    <Segments
      aria-label="Stage to preview"
      data={recipe.stages.map(String)}
      value={String(words)}
      onChange={(value) => onWords(Number(value))}
    />
  );
  return (
    <Panel title="Preview" actions={words !== null && stages} className={classes.preview ?? ''}>
      {words === null && (
        <Empty title="No word count selected">
          <p>Select one, or the whole curriculum, on the left.</p>
        </Empty>
      )}
      {words !== null && preview.error !== null && (
        <Failed what="The preview can't be shown" error={preview.error} onRetry={() => void preview.refetch()} />
      )}
      {words !== null && preview.error === null && preview.data === undefined && <Loading what="the preview" />}
      {words !== null && preview.data !== undefined && (
        <Records preview={preview.data} recipe={recipe} stale={preview.isPlaceholderData} />
      )}
    </Panel>
  );
}

interface RecordsProps {
  readonly preview: DatasetPreview;
  readonly recipe: Recipe;
  readonly stale: boolean;
}

function Records({
  preview: { supply, leakage, longestPrompt, quoted, unwritable, ...sides },
  recipe,
  stale,
}: RecordsProps) {
  const [side, setSide] = useState<'train' | 'test'>('train');
  if (supply.shortage !== null)
    return (
      <Empty title={`Not enough texts of ${supply.words} words yet`}>
        <p>{supply.shortage}.</p>
        <p>
          <Link href="/texts">Import or merge texts</Link>
        </p>
      </Empty>
    );
  return (
    <div className={classes.records} data-stale={stale || undefined} aria-busy={stale}>
      <div className={classes.facts}>
        <Segments
          aria-label="Split"
          data={[
            { value: 'train', label: `Train ${number(recipe.train)}` },
            { value: 'test', label: `Test ${number(recipe.test)}` },
          ]}
          value={side}
          onChange={(value) => setSide(value === 'test' ? 'test' : 'train')}
        />
        <span className="soft num">
          {counted(supply.training_texts, 'training text')}, {counted(supply.test_texts, 'test text')}; longest prompt{' '}
          {counted(longestPrompt, 'word')}
        </span>
      </div>
      {leakage !== null && <LeakageNote leakage={leakage} />}
      {quoted !== null && <p className={classes.short}>{quoted}</p>}
      {unwritable !== null && <p className={classes.short}>{unwritable}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.list} tabIndex={0} aria-label="Records">
        {sides[side].map((record) => (
          <RecordCard key={record.id} record={record} />
        ))}
        <p className="faint">
          {sides[side].length === 1 ? 'The first record' : `The first ${counted(sides[side].length, 'record')}`}
        </p>
      </section>
    </div>
  );
}
