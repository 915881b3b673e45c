/** A model's memory needs compared with this machine. */
import type { ModelDetail } from '../../main/api/contract/index.ts';
import { bytes, counted } from '../components/format.ts';
import classes from './Models.module.css';
import { memoryFit } from './model-rows.ts';

export interface MemoryNeedsProps {
  readonly memory: NonNullable<ModelDetail['memory']>;
  /** Whether the model is an adapter; its needs then include the base model. */
  readonly adapter: boolean;
}

const WORDS = { fits: 'fits', tight: 'only with other programs closed', 'too large': 'too large for this machine' };

export function MemoryNeeds({
  memory: { needs, totalBytes, freeBytes, gpu, rows, tokens },
  adapter,
}: MemoryNeedsProps) {
  const lines = [
    ['Generation', needs.generation],
    ['LoRA training', needs.lora],
    ['Full fine-tuning', needs.full],
  ] as const;
  return (
    <>
      <h3 className={classes.part}>Memory{adapter ? ', including the base model' : ''}</h3>
      <ul className={classes.memory}>
        {lines.map(([label, needed]) => {
          const verdict = memoryFit(needed, freeBytes, totalBytes);
          return (
            <li key={label} data-fit={verdict}>
              <span>{label}</span>
              <span className="mono">{bytes(needed)}</span>
              <span className={classes.bar} aria-hidden="true">
                <i style={{ width: `${Math.min(100, (needed / totalBytes) * 100)}%` }} />
                <b style={{ width: `${(freeBytes / totalBytes) * 100}%` }} />
              </span>
              <span className={classes.verdict}>
                {verdict === 'too large' && gpu !== null ? 'too large for the GPU' : WORDS[verdict]}
              </span>
            </li>
          );
        })}
      </ul>
      <p className="faint">
        For {counted(rows, 'completion')} of {counted(tokens, 'token')} each with their prompt, in parts where they
        don't fit at once;{' '}
        {needs.weightBytes < 4 ? `frozen weights in ${8 * needs.weightBytes} bits` : 'weights in float32'}.{' '}
        {gpu === null
          ? `${bytes(freeBytes)} of ${bytes(totalBytes)} that a run can use are free now`
          : `${bytes(freeBytes)} are free now on the GPU (${gpu})`}
        . A run measures its actual need when it starts.
      </p>
    </>
  );
}
