/** What a model needs in memory, against what this machine has. */
import type { ModelDetail } from '../../main/services/models/inspect.ts';
import { bytes } from '../components/format.ts';
import classes from './Models.module.css';
import { memoryFit } from './model-rows.ts';

export interface MemoryNeedsProps {
  readonly memory: NonNullable<ModelDetail['memory']>;
  /** Whether the model is one with an adapter: then the needs are its base's. */
  readonly adapter: boolean;
}

const WORDS = { fits: 'fits', tight: 'only when other programs make room', 'too large': 'too large for this machine' };

export function MemoryNeeds({ memory: { needs, totalBytes, freeBytes, rows, tokens }, adapter }: MemoryNeedsProps) {
  const lines = [
    ['Generating', needs.generation],
    ['Training adapters', needs.lora],
    ['Training all weights', needs.full],
  ] as const;
  return (
    <>
      <h3 className={classes.part}>Memory{adapter ? ', with its base' : ''}</h3>
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
              <span className={classes.verdict}>{WORDS[verdict]}</span>
            </li>
          );
        })}
      </ul>
      <p className="faint">
        For {rows} completions at once, {tokens} tokens each with their prompt, in float32; {bytes(freeBytes)} of{' '}
        {bytes(totalBytes)} are free now. A run measures its own need when it starts.
      </p>
    </>
  );
}
