import { IconCut } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { FoundSample } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { score } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { visible } from '../components/visible.ts';
import { figuresOf } from './figures.ts';
import classes from './Samples.module.css';

export interface FoundRowProps {
  /** Undefined while loading. */
  readonly sample: FoundSample | undefined;
  readonly here: boolean;
  readonly onChoose: () => void;
}

/** A search result: reward, origin, and the excerpt that matches. */
export function FoundRow({ sample, here, onChoose }: FoundRowProps) {
  const { data: columns = [] } = useQuery(api.samples.columns.queryOptions());
  if (sample === undefined) return <div className={classes.foundRow} />;
  const { reward, runName, step, recordId, terminated, excerpt } = sample;
  const origin = `${isolated(runName)} · step ${step} · ${isolated(recordId)}`;
  return (
    <PlainButton className={classes.foundRow} aria-current={here || undefined} onClick={onChoose}>
      <span className={classes.foundFacts}>
        <strong className="mono">{score(reward)}</strong>
        <span className={classes.record} title={origin}>
          {origin}
        </span>
        <span className="soft num">
          {figuresOf(columns, sample)
            .map(({ text }) => text)
            .join(' · ')}
        </span>
        {!terminated && (
          <span className={classes.cut}>
            <IconCut size={12} aria-hidden="true" /> cut off
          </span>
        )}
      </span>
      <span className={`mono own-direction ${classes.excerpt}`}>
        {excerpt.length === 0 && <span className="faint">no words</span>}
        {excerpt.map(({ text, hit }, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, which have no other name
          hit ? <mark key={i}>{visible(text)}</mark> : <span key={i}>{visible(text)}</span>,
        )}
      </span>
    </PlainButton>
  );
}
