/** A run's checkpoints: roll back to one, train further from one, or copy its path. */

import { Button, CopyButton, Table } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo, useState } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { continuesInCurriculum, type Followed, runFrom } from '../components/config-form/free-run.ts';
import { Failed } from '../components/Feedback.tsx';
import { counted, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import { currentPath, navigateFrom } from '../frame/hash-location.ts';
import classes from './Run.module.css';

export interface CheckpointsProps {
  readonly detail: RunDetail;
  /** Why the run can't be rolled back now, or null. */
  readonly noRollBack: string | null;
  /** Nothing more will be saved. */
  readonly isEnded: boolean;
  readonly onRollBack: (checkpointId: number) => void;
}

export const Checkpoints = memo(function Checkpoints({ detail, noRollBack, isEnded, onRollBack }: CheckpointsProps) {
  const { checkpoints, evaluations, folder } = detail;
  const [next, setNext] = useState<Followed | null>(null);
  const serve = useMutation({
    mutationFn: (id: number) => client.models.serve({ ref: `checkpoint:${id}` }),
    // Its address is on its own page.
    onMutate: currentPath,
    onSuccess: (_, id, from) => navigateFrom(from, `/models?${new URLSearchParams({ model: `checkpoint:${id}` })}`),
  });
  const there = checkpoints.filter(({ deletedAt }) => deletedAt === null);
  const gone = checkpoints.filter(({ deletedAt }) => deletedAt !== null);
  // The run itself removes only old checkpoints, never its newest.
  const missing = gone.filter(({ step }) => step > (there[0]?.step ?? 0));
  const removed = gone.length - missing.length;
  const heldOut = new Map(evaluations.map(({ step, mean }) => [step, mean]));
  return (
    <Panel title="Checkpoints">
      {checkpoints.length === 0 && (
        <p className="soft">
          {isEnded ? 'None was saved: one is due' : 'None yet; one is saved'}{' '}
          {detail.config.save_steps === 1 ? 'every step' : `every ${String(detail.config.save_steps ?? 'few')} steps`}.
        </p>
      )}
      {there.length > 0 && (
        <div className={classes.scroll}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th ta="right">Step</Table.Th>
                <Table.Th ta="right">Held-out</Table.Th>
                <Table.Th>Saved</Table.Th>
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
                    {kind === 'final' && ', final'}
                  </Table.Td>
                  <Table.Td ta="right">
                    <div className={classes.rowActions}>
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        disabled={noRollBack !== null}
                        title={noRollBack ?? undefined}
                        onClick={() => onRollBack(id)}
                      >
                        {step < detail.step ? 'Roll back' : 'Continue'}
                      </Button>
                      {continuesInCurriculum(detail.config) ? (
                        <Button size="compact-xs" variant="subtle" component={Link} href={`/curriculum?from=${id}`}>
                          New stage
                        </Button>
                      ) : (
                        <Button
                          size="compact-xs"
                          variant="subtle"
                          onClick={() => setNext(runFrom(detail.id, detail.config, path))}
                        >
                          Train from this
                        </Button>
                      )}
                      <Button
                        size="compact-xs"
                        variant="subtle"
                        loading={serve.isPending && serve.variables === id}
                        onClick={() => serve.mutate(id)}
                      >
                        Serve
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
      {serve.error !== null && <Failed what="The checkpoint can't be served" error={serve.error} />}
      {missing.length > 0 && (
        <p className={classes.missing} role="status">
          {missing.length === 1 ? 'The folder' : 'The folders'} of step {missing.map(({ step }) => step).join(', ')}{' '}
          {missing.length === 1 ? 'is' : 'are'} missing from disk.{' '}
          {there.length === 0
            ? 'No checkpoint is left, so resuming restarts the run.'
            : `The run, and a stage after it, now continue from step ${there.at(-1)?.step}.`}
        </p>
      )}
      {removed > 0 && (
        <p className={`faint ${classes.note}`}>
          {counted(removed, 'earlier checkpoint was', 'earlier checkpoints were')} removed: the run keeps only the
          newest. Its lineage still lists them.
        </p>
      )}
      <Files folder={folder} />
      {next !== null && <FreeRun opened follows={next} onClose={() => setNext(null)} />}
    </Panel>
  );
});

/** Files that a run writes besides its checkpoints. */
const files = ['run.yaml', 'metrics.jsonl', 'sample_outputs.log', 'training.log'];

function Files({ folder }: { readonly folder: string }) {
  return (
    <div className={classes.files}>
      <div className={`mono ${classes.path}`} title={folder}>
        <bdi>{folder}</bdi>
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
  /** For the accessible name: "checkpoint 40". */
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
