/** The stages as a ladder: rungs rise with the word count, joined by two strands where one stage led to the next. */

import { useElementSize } from '@mantine/hooks';
import { IconAlertTriangle, IconCheck, IconClock, IconLock } from '@tabler/icons-react';
import type { LiveStatus, StageView } from '../../main/api/contract/index.ts';
import { counted, score } from '../components/format.ts';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Curriculum.module.css';
import { ladderShape } from './ladder-shape.ts';
import { originInWords, recordWord, ruleInShort, stateOf, stepCount, waitsFor, worseInWords } from './words.ts';

export interface LadderProps {
  readonly stages: readonly StageView[];
  readonly live: readonly LiveStatus[];
  readonly selected: number | null;
  readonly onSelect: (stageId: number) => void;
  /** What is missing for each length, by word count. */
  readonly shortages: ReadonlyMap<number, string>;
}

const NARROWEST = 148;
const WIDEST = 300;
const RISE = 56;

export function Ladder({ stages, live, selected, onSelect, shortages }: LadderProps) {
  const { ref, width } = useElementSize();
  const column = Math.max(NARROWEST, Math.min(WIDEST, Math.floor(width / Math.max(1, stages.length))));
  const shape = ladderShape(stages.length, column, stages.length < 2 ? 0 : RISE);
  return (
    <div ref={ref} className={classes.ladder}>
      <div style={{ width: shape.width }}>
        <svg width={shape.width} height={shape.height} aria-hidden="true" className={classes.strands}>
          {shape.links.map(({ a, b }, i) => {
            const next = stages[i + 1];
            const led = next?.run != null && next.origin.kind === 'checkpoint';
            return (
              <g key={next?.id} data-led={led || undefined}>
                <path d={b} className={classes.b} />
                <path d={a} className={classes.a} />
              </g>
            );
          })}
        </svg>
        <ol className={classes.rungs} style={{ gridTemplateColumns: `repeat(${stages.length}, ${column}px)` }}>
          {stages.map((stage, i) => (
            <li key={stage.id}>
              <button
                type="button"
                className={classes.rung}
                aria-pressed={stage.id === selected}
                onClick={() => onSelect(stage.id)}
                style={{ paddingTop: (shape.rungs[i]?.[1] ?? 0) - 23 }}
              >
                <Knot stage={stage} live={live.find(({ stageId }) => stageId === stage.id) ?? null} />
                <span
                  className={classes.rungText}
                  style={{ marginTop: shape.height - (shape.rungs[i]?.[1] ?? 0) - 23 }}
                >
                  <Card
                    stage={stage}
                    live={live.find(({ stageId }) => stageId === stage.id) ?? null}
                    after={waitsFor(stages, stage)}
                    shortage={stage.words === null ? undefined : shortages.get(stage.words)}
                  />
                </span>
              </button>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

/** A stage's word count inside a progress ring; of a task without a length its place. */
function Knot({ stage, live }: { readonly stage: StageView; readonly live: LiveStatus | null }) {
  const { state, run, words } = stage;
  const done = live === null ? (run === null ? 0 : run.step / Math.max(1, run.maxSteps)) : live.step / live.maxSteps;
  const share = state === 'done' ? 1 : Math.min(1, done);
  return (
    <span className={classes.knot} data-state={state}>
      <svg viewBox="0 0 46 46" aria-hidden="true">
        <circle cx="23" cy="23" r="21" className={classes.ring} />
        <circle
          cx="23"
          cy="23"
          r="21"
          pathLength={100}
          strokeDasharray={`${share * 100} 100`}
          className={classes.fill}
        />
      </svg>
      <span className="num">{words ?? (stage.dataset === null ? '?' : stage.position + 1)}</span>
      <Mark stage={stage} />
    </span>
  );
}

function Mark({ stage: { state, dataset, standing } }: { readonly stage: StageView }) {
  const mark = (icon: React.ReactNode, tone: string) => (
    <span className={classes.mark} data-tone={tone}>
      {icon}
    </span>
  );
  const isWorse = state === 'done' && standing?.tone === 'warn';
  if (isWorse || state === 'unmet' || state === 'failed')
    return mark(<IconAlertTriangle size={11} aria-hidden="true" />, 'warn');
  if (state === 'done') return mark(<IconCheck size={11} stroke={3} aria-hidden="true" />, 'good');
  if (state === 'queued') return mark(<IconClock size={11} stroke={2.5} aria-hidden="true" />, 'quiet');
  if (dataset === null) return mark(<IconLock size={11} stroke={2.5} aria-hidden="true" />, 'quiet');
  return null;
}

interface CardProps {
  readonly stage: StageView;
  readonly live: LiveStatus | null;
  /** The stage that it waits for. */
  readonly after: StageView | null;
  readonly shortage: string | undefined;
}

function Card({ stage, live, after, shortage }: CardProps) {
  const { name, words, metScore, promotion, dataset, steps, origin, standing } = stage;
  const best = metScore ?? stage.best?.mean ?? null;
  // Rounding may leave a mean of 0.9 a little below it.
  const isMet = best !== null && promotion !== null && best > promotion.at_least - 1e-9;
  const isWorse = metScore === null && standing?.tone === 'warn';
  return (
    <>
      <strong>{name}</strong>
      <span className={classes.line}>
        <StateBadge state={stateOf(stage, live)} />
        {words !== null && name !== counted(words, 'word') && <span className="faint">{counted(words, 'word')}</span>}
      </span>
      <span className={classes.line}>
        best <b className={isMet && !isWorse ? classes.met : ''}>{score(best)}</b>
      </span>
      {isWorse && <span className={classes.lack}>{worseInWords(standing, best)}</span>}
      <span className={classes.soft}>{ruleInShort(promotion)}</span>
      <span className={classes.soft}>
        {stepCount(steps)}
        {dataset !== null && `, ${counted(dataset.trainN, recordWord(words))}`}
      </span>
      {dataset === null ? (
        <span className={classes.lack}>{shortage === undefined ? 'no dataset yet' : 'needs longer texts'}</span>
      ) : (
        <span className={classes.soft}>{after === null ? `from ${originInWords(origin)}` : `after ${after.name}`}</span>
      )}
    </>
  );
}
