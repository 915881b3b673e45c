/** Warns about prompts that were held out badly: models that were trained on the dataset have seen parts of them. */
import { IconAlertTriangle } from '@tabler/icons-react';
import type { PromptSource } from '../../main/api/contract/index.ts';
import { leakageInWords } from '../components/leakage.ts';
import classes from './Compare.module.css';

export function Leaks({ name, task, heldOut, leakage }: Pick<PromptSource, 'name' | 'task' | 'heldOut' | 'leakage'>) {
  const leaks = leakageInWords(leakage, heldOut, task);
  if (leaks === null) return null;
  return (
    <p className={classes.leaks}>
      <IconAlertTriangle size={15} aria-hidden="true" /> {name}: {leaks}. Models trained on it score too high here.
    </p>
  );
}
