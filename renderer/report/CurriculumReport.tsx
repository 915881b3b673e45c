/** The curriculum in a report: the ladder, what each stage reached, and what later stages forgot. */
import { useState } from 'react';
import type { CurriculumContent, StageView } from '../../main/api/contract/index.ts';
import { counted, score } from '../components/format.ts';
import { Panel, Screen } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { Forgetting } from '../curriculum/Forgetting.tsx';
import { Ladder } from '../curriculum/Ladder.tsx';
import classes from './Report.module.css';

const nothing: ReadonlyMap<number, string> = new Map();

export function CurriculumReport({ content: { curriculum, forgetting } }: { readonly content: CurriculumContent }) {
  const { stages } = curriculum;
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <Screen title="Curriculum" about={<span className="num">{counted(stages.length, 'stage')}</span>}>
      <Ladder stages={stages} live={[]} selected={selected} onSelect={setSelected} shortages={nothing} />
      <Panel title="Stages">
        <table className={classes.table}>
          <thead>
            <tr>
              {['Stage', 'State', 'Pairs', 'Steps', 'Baseline', 'Best held-out'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {stages.map((stage) => (
              <Stage key={stage.id} stage={stage} isSelected={stage.id === selected} />
            ))}
          </tbody>
        </table>
      </Panel>
      {forgetting.rows.length > 0 && <Forgetting />}
    </Screen>
  );
}

function Stage({ stage, isSelected }: { readonly stage: StageView; readonly isSelected: boolean }) {
  const { name, state, dataset, run, best } = stage;
  return (
    <tr data-selected={isSelected || undefined}>
      <th scope="row">{name}</th>
      <td>
        <StateBadge state={state} />
      </td>
      <td className="num">{dataset === null ? '–' : dataset.trainN}</td>
      <td className="num">{run === null ? '–' : `${run.step} of ${run.maxSteps}`}</td>
      <td className="num">{score(run?.baseline)}</td>
      <td className="num">
        {best === null ? '–' : score(best.mean)}
        {best?.low != null && best.high !== null && (
          <span className="faint">
            {' '}
            [{score(best.low)}, {score(best.high)}]
          </span>
        )}
      </td>
    </tr>
  );
}
