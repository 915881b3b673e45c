/** Resumes a run: from which checkpoint, up to which step, and what that discards. */
import { Button, Group, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunDetail, WholeCheckpoint } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { LongSelect } from '../components/LongSelect.tsx';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { discardedBy } from './discarded.ts';
import { Lacks } from './Lacks.tsx';
import type { ResumeChoice } from './use-run-actions.ts';

const NOTHING_KNOWN: WholeCheckpoint = { checkpointId: null, damaged: [] };

/** What is damaged, and what to do. */
function damageText({ checkpointId, damaged }: WholeCheckpoint): string {
  const steps = damaged.map(({ step }) => step).join(', ');
  const which = damaged.length === 1 ? `The checkpoint of step ${steps} is` : `The checkpoints of steps ${steps} are`;
  const next =
    checkpointId === null
      ? 'No other is whole: restore one from a copy, or start the run again.'
      : 'Resume from an earlier one.';
  return `${which} damaged on the disk (${damaged[0]?.file.split(/[\\/]/).at(-1)}). ${next}`;
}

/** What becomes of the steps after the checkpoint. */
function lostWords(detail: RunDetail, from: number, isNewest: boolean): string {
  const lost = discardedBy(detail, from);
  if (detail.step === 0) return 'The run ended before its first step was done; it starts from the beginning.';
  if (lost === null) return 'Nothing is lost: the run continues where it ended.';
  if (!isNewest) return `This discards ${lost}.`;
  const steps = from + 1 === detail.step ? `Step ${detail.step} was` : `Steps ${from + 1} to ${detail.step} were`;
  const kept = from === 0 ? '' : `Everything up to step ${from} is kept. `;
  return `${kept}${steps} not saved and will be trained again.`;
}

function resumeLabel(
  from: number,
  { isLost, isNewest }: { readonly isLost: boolean; readonly isNewest: boolean },
): string {
  if (isLost && !isNewest) return `Discard and resume from step ${from}`;
  if (from === 0) return 'Restart';
  return isLost ? `Resume from step ${from}` : 'Resume';
}

export interface ResumeDialogProps {
  readonly detail: RunDetail;
  /** The checkpoint selected first; null for the newest. */
  readonly checkpointId: number | null;
  readonly onClose: () => void;
  readonly onResume: (choice: ResumeChoice) => void;
}

export function ResumeDialog({ detail, checkpointId, onClose, onResume }: ResumeDialogProps) {
  const there = detail.checkpoints.filter(({ deletedAt }) => deletedAt === null);
  const [picked, setPicked] = useState(checkpointId);
  // Files may have changed on the disk since they were last looked at.
  const { data: whole = NOTHING_KNOWN } = useQuery(
    api.runs.wholeCheckpoint.queryOptions({ input: { runId: detail.id }, staleTime: 0 }),
  );
  // A run that ended a moment ago may have dropped the one that was clicked.
  const isThere = there.some(({ id }) => id === picked);
  const chosen = (isThere ? picked : whole.checkpointId) ?? there.at(-1)?.id ?? null;
  const damagedSteps = new Set(whole.damaged.map(({ step }) => step));
  const checkpoint = there.find(({ id }) => id === chosen);
  const from = checkpoint?.step ?? 0;
  const [proposed] = useState(
    from < detail.maxSteps ? detail.maxSteps : from + Math.max(1, Math.round(detail.maxSteps / 2)),
  );
  const [upTo, setUpTo] = useState<number | null>(proposed);
  const { ask, question } = useDiscardQuestion({
    isChanged: () => upTo !== proposed || picked !== checkpointId,
    close: onClose,
  });
  const lost = discardedBy(detail, from);
  // What came after the newest checkpoint can't be kept: only an earlier one is a choice that discards something.
  const isNewest = from >= Math.max(0, ...there.filter(({ step }) => !damagedSteps.has(step)).map(({ step }) => step));
  const steps = upTo ?? 0;
  const tooFew = !(steps > from);
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title={`Resume ${detail.name}`}>
        {there.length === 0 ? (
          <Text>This run has no checkpoint, so resuming restarts it.</Text>
        ) : (
          <LongSelect
            label="From checkpoint"
            nothingFoundMessage="No such checkpoint"
            data={[...there].reverse().map(({ id, step, kind }) => ({
              value: String(id),
              label: `step ${step}${kind === 'final' ? ', final' : ''}${damagedSteps.has(step) ? ', damaged' : ''}`,
            }))}
            value={chosen === null ? null : String(chosen)}
            allowDeselect={false}
            onChange={(value) => setPicked(value === null ? null : Number(value))}
          />
        )}
        {whole.damaged.length > 0 && (
          <Text mt="sm" c="red" role="alert">
            {damageText(whole)}
          </Text>
        )}
        {detail.lacks.length > 0 && (
          <Text mt="sm" c="red" role="alert">
            <Lacks lacks={detail.lacks} />
          </Text>
        )}
        <NumberEntry
          mt="sm"
          label="Train to step"
          min={1}
          max={10_000_000}
          value={upTo}
          onChange={setUpTo}
          error={tooFew ? `Expected more than ${from}, the step it starts from` : null}
        />
        <Text mt="md" role="status">
          {lostWords(detail, from, isNewest)}
        </Text>
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button
            color={isNewest ? 'teal' : 'red'}
            disabled={tooFew || damagedSteps.has(from) || detail.lacks.length > 0}
            onClick={() =>
              onResume({
                ...(chosen !== null && { checkpointId: chosen }),
                ...(steps !== detail.maxSteps && { maxSteps: steps }),
              })
            }
          >
            {resumeLabel(from, { isLost: lost !== null, isNewest })}
          </Button>
        </Group>
      </Modal>
      {question}
    </>
  );
}
