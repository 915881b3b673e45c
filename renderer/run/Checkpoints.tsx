/** The checkpoints of a run: go back to one, start the next stage from one, find one on disk. */

import { Button, CopyButton, Table } from '@mantine/core';
import { memo } from 'react';
import type { RunDetail } from '../../main/services/run-history.ts';
import { score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import classes from './Run.module.css';

export interface CheckpointsProps {
  readonly detail: RunDetail;
  readonly isLive: boolean;
  readonly onRollBack: (checkpointId: number) => void;
}

export const Checkpoints = memo(function Checkpoints({ detail, isLive, onRollBack }: CheckpointsProps) {
  const { checkpoints, evaluations, folder } = detail;
  const there = checkpoints.filter(({ deletedAt }) => deletedAt === null);
  const gone = checkpoints.filter(({ deletedAt }) => deletedAt !== null);
  // The run itself removes old ones only, and never its newest.
  const missing = gone.filter(({ step }) => step > (there[0]?.step ?? 0));
  const removed = gone.length - missing.length;
  const heldOut = new Map(evaluations.map(({ step, mean }) => [step, mean]));
  return (
    <Panel title="Checkpoints">
      {checkpoints.length === 0 && (
        <p className="soft">None yet: one is written every {String(detail.config.save_steps ?? 'few')} steps.</p>
      )}
      {there.length > 0 && (
        <div className={classes.scroll}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th ta="right">step</Table.Th>
                <Table.Th ta="right">held-out</Table.Th>
                <Table.Th>saved</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {[...there].reverse().map(({ id, step, path, kind, createdAt }) => (
                <Table.Tr key={id}>
                  <Table.Td ta="right" className="mono">
                    {step}
                  </Table.Td>
                  <Table.Td ta="right" className="mono">
                    {score(heldOut.get(step))}
                  </Table.Td>
                  <Table.Td>
                    <When at={createdAt} />
                    {kind === 'final' && ', at the end'}
                  </Table.Td>
                  <Table.Td ta="right">
                    <div className={classes.rowActions}>
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        disabled={isLive}
                        title={isLive ? 'Stop the run first' : undefined}
                        onClick={() => onRollBack(id)}
                      >
                        {step < detail.step ? 'Roll back' : 'Go on'}
                      </Button>
                      <Button size="compact-xs" variant="subtle" component={Link} href={`/curriculum?from=${id}`}>
                        New stage
                      </Button>
                      <CopyPath path={path} what={`checkpoint ${step}`} />
                    </div>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {missing.length > 0 && (
        <p className={classes.missing} role="status">
          {missing.length === 1 ? 'The folder' : 'The folders'} of step {missing.map(({ step }) => step).join(', ')}{' '}
          {missing.length === 1 ? 'is' : 'are'} gone from the disk.{' '}
          {there.length === 0
            ? 'None is left: resumed, the run begins anew.'
            : `Step ${there.at(-1)?.step} is now what the run, and a stage after it, goes on from.`}
        </p>
      )}
      {removed > 0 && (
        <p className={`faint ${classes.note}`}>
          {removed} earlier {removed === 1 ? 'one was' : 'ones were'} removed: the run keeps the newest, and its lineage
          knows them all.
        </p>
      )}
      <Files folder={folder} />
    </Panel>
  );
});

/** What a run leaves beside its checkpoints. */
const files = ['run.yaml', 'metrics.jsonl', 'sample_outputs.log'];

function Files({ folder }: { readonly folder: string }) {
  return (
    <div className={classes.files}>
      <div className={`mono ${classes.path}`} title={folder}>
        {folder}
      </div>
      <CopyPath path={folder} what="the run's folder" />
      {files.map((name) => (
        <CopyPath key={name} path={`${folder}/${name}`} what="copy its path" label={name} />
      ))}
    </div>
  );
}

interface CopyPathProps {
  readonly path: string;
  /** For those who can't see where the button stands: "checkpoint 40". */
  readonly what: string;
  readonly label?: string;
}

function CopyPath({ path, what, label = 'Copy path' }: CopyPathProps) {
  return (
    <CopyButton value={path}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="subtle" title={path} aria-label={`${label}: ${what}`} onClick={copy}>
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  );
}
