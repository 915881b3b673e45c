/** What repeats a run: its files with their hashes, and the commands. */
import type { RunContent } from '../../main/api/contract/index.ts';
import { Panel } from '../components/Screen.tsx';
import classes from './Report.module.css';

export function Repeat({ content: { detail, files, commands } }: { readonly content: RunContent }) {
  const { backend, config, model } = detail;
  return (
    <Panel title="How to repeat it">
      <dl className={classes.facts}>
        <dt>Model</dt>
        <dd className="mono">{model}</dd>
        <dt>Backend</dt>
        <dd className="mono">{backend ?? 'not known'}</dd>
        <dt>Seed</dt>
        <dd className="mono">{String(config.seed ?? '–')}</dd>
        {files.map(({ name, what, sha256 }) => [
          <dt key={`${what}-name`}>{what === 'training records' ? 'Training records' : 'Held-out records'}</dt>,
          <dd key={what} className="mono">
            {sha256 === null ? `${name}, since deleted` : `${name}, SHA-256 ${sha256}`}
          </dd>,
        ])}
      </dl>
      <p>With the settings above as run.yaml:</p>
      <pre className={`mono ${classes.commands}`}>{commands.join('\n')}</pre>
    </Panel>
  );
}
