/** Which word counts to make: the curriculum's stages, and any other. */
import { Button, UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { StageSupply } from '../../main/api/contract/index.ts';
import { NumberEntry } from '../components/NumberEntry.tsx';
import classes from './Make.module.css';
import { stageWords } from './stages.ts';

export interface StageChoiceProps {
  readonly stages: readonly number[];
  readonly supply: readonly StageSupply[];
  readonly onChange: (stages: readonly number[]) => void;
}

const MAX_WORDS = 5000;

export function StageChoice({ stages, supply, onChange }: StageChoiceProps) {
  const [other, setOther] = useState<number | null>(null);
  const offered = [...new Set([...stageWords, ...stages])].sort((a, b) => a - b);
  const whole = stageWords.every((words) => stages.includes(words));
  const set = (words: number, on: boolean): void =>
    onChange([...stages.filter((stage) => stage !== words), ...(on ? [words] : [])].sort((a, b) => a - b));
  const add = (): void => {
    if (other !== null) set(other, true);
    setOther(null);
  };
  return (
    <fieldset className={classes.stages}>
      <legend>Words per fragment</legend>
      <div>
        {offered.map((words) => {
          const shortage = supply.find((stage) => stage.words === words)?.shortage ?? null;
          const on = stages.includes(words);
          return (
            <UnstyledButton
              key={words}
              className={classes.stage}
              aria-pressed={on}
              data-short={shortage !== null || undefined}
              title={shortage ?? `Enough texts for ${words} words`}
              onClick={() => set(words, !on)}
            >
              {words}
              {shortage !== null ? (
                <>
                  <IconAlertTriangle size={12} aria-hidden="true" />
                  <span className="visually-hidden">, too few texts</span>
                </>
              ) : (
                on && <IconCheck size={12} aria-hidden="true" />
              )}
            </UnstyledButton>
          );
        })}
      </div>
      <div>
        <Button variant="default" aria-pressed={whole} onClick={() => onChange(whole ? [] : [...stageWords])}>
          {whole ? 'None' : 'Whole curriculum'}
        </Button>
        <NumberEntry
          aria-label="Another word count"
          placeholder="Other"
          w={80}
          min={1}
          max={MAX_WORDS}
          value={other}
          onChange={setOther}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <Button variant="default" aria-label="Add this word count" disabled={other === null} onClick={add}>
          <IconPlus size={14} />
        </Button>
      </div>
    </fieldset>
  );
}
