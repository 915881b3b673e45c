/** Text lengths compared with the stages, and what each stage has and needs. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CorpusOverview } from '../../main/api/contract/index.ts';
import { Histogram } from '../charts/Histogram.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { compact, counted, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import styles from './LengthPanel.module.css';
import { lengthBins, stageMarks, wordsAt } from './stages.ts';
import classes from './Texts.module.css';

export interface LengthPanelProps {
  readonly overview: UseQueryResult<CorpusOverview, unknown>;
  readonly onMerge: () => void;
}

export function LengthPanel({ overview, onMerge }: LengthPanelProps) {
  const { data, error, refetch } = overview;
  if (error !== null && data === undefined)
    return <Failed what="The texts can't be measured" error={error} onRetry={() => void refetch()} />;
  return (
    <Panel title="Text lengths by stage" className={classes.lengths ?? ''}>
      {data === undefined ? <Loading what="the lengths" /> : <Lengths data={data} onMerge={onMerge} />}
    </Panel>
  );
}

function Lengths({ data, onMerge }: { readonly data: CorpusOverview; readonly onMerge: () => void }) {
  const bins = useMemo(() => lengthBins(data.lengths), [data.lengths]);
  const short = data.stages.some(({ shortage }) => shortage !== null);
  return (
    <>
      <Histogram
        title={
          <span className="soft num">
            {counted(data.words, 'word')}; {number(data.shortest)} to {number(data.longest)} per text, median{' '}
            {number(data.median)}
            {data.unspaced > 0 &&
              `; words without spaces found by Unicode’s segmentation in ${counted(data.unspaced, 'text')}`}
          </span>
        }
        label="Lengths of the texts in words, with the stages marked"
        bins={bins}
        unit="texts"
        marks={stageMarks}
        format={wordsAt}
        axis="words per text"
        height={110}
      />
      <table className={`${styles.supply} num`}>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Texts</th>
            <th scope="col" title="Distinct pairs that the texts can provide">
              Training pairs
            </th>
            <th scope="col">Test pairs</th>
            <th scope="col">Ready</th>
          </tr>
        </thead>
        <tbody>
          {data.stages.map((stage) => (
            <tr key={stage.words}>
              <th scope="row">{stage.words}</th>
              <td>{number(stage.texts)}</td>
              <td>{pairs(stage.training_pairs)}</td>
              <td>{pairs(stage.test_pairs)}</td>
              <td>
                {stage.shortage === null ? (
                  <span className={classes.good}>
                    <IconCircleCheck size={14} aria-hidden="true" /> yes
                  </span>
                ) : (
                  <span className={classes.warn} title={stage.shortage}>
                    <IconAlertTriangle size={14} aria-hidden="true" />{' '}
                    {stage.missing_texts > 0 ? `${stage.missing_texts} missing` : 'few pairs'}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {short ? (
        <div className={styles.shortages}>
          {data.stages.map(({ words, shortage }) => shortage !== null && <p key={words}>{shortage}.</p>)}
          <Button variant="default" onClick={onMerge}>
            Merge short texts …
          </Button>
        </div>
      ) : (
        <p className="soft">
          Every stage is ready. <Link href="/texts/make">Make the datasets</Link>
        </p>
      )}
    </>
  );
}

/** Pairs run into millions, where the exact number doesn't matter. */
function pairs(count: number): string {
  return count < 10_000 ? number(count) : compact(count);
}
