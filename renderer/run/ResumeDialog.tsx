/** Takes a run up again: from which checkpoint, up to which step, and what is lost by it. */
import { Button, Group, Modal, NumberInput, Select, Text } from '@mantine/core';
import { useState } from 'react';
import type { RunDetail } from '../../main/services/run-history.ts';
import { discardedBy } from './discarded.ts';
import type { ResumeChoice } from './use-run-actions.ts';

export interface ResumeDialogProps {
  readonly detail: RunDetail;
  /** Chosen to begin with; null: the newest. */
  readonly checkpointId: number | null;
  readonly onClose: () => void;
  readonly onResume: (choice: ResumeChoice) => void;
}

export function ResumeDialog({ detail, checkpointId, onClose, onResume }: ResumeDialogProps) {
  const there = detail.checkpoints.filter(({ deletedAt }) => deletedAt === null);
  const [chosen, setChosen] = useState(checkpointId ?? there.at(-1)?.id ?? null);
  const checkpoint = there.find(({ id }) => id === chosen);
  const from = checkpoint?.step ?? 0;
  const [upTo, setUpTo] = useState<number | string>(
    from < detail.maxSteps ? detail.maxSteps : from + Math.max(1, Math.round(detail.maxSteps / 2)),
  );
  const lost = discardedBy(detail, from);
  const steps = Number(upTo);
  const tooFew = !(steps > from);
  return (
    <Modal opened onClose={onClose} title={`Resume ${detail.name}`}>
      {there.length === 0 ? (
        <Text>It has no checkpoint: it begins anew from its start.</Text>
      ) : (
        <Select
          label="From checkpoint"
          data={[...there].reverse().map(({ id, step, kind }) => ({
            value: String(id),
            label: `step ${step}${kind === 'final' ? ', the last' : ''}`,
          }))}
          value={chosen === null ? null : String(chosen)}
          allowDeselect={false}
          onChange={(value) => setChosen(value === null ? null : Number(value))}
        />
      )}
      <NumberInput
        mt="sm"
        label="Train to step"
        min={1}
        max={10_000_000}
        allowDecimal={false}
        value={upTo}
        onChange={setUpTo}
        error={tooFew ? `Expected more than ${from}, where it starts` : null}
      />
      <Text mt="md" role="status">
        {lost === null ? 'Nothing is lost: it goes on where it ended.' : `This discards ${lost}.`}
      </Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color={lost === null ? 'teal' : 'red'}
          disabled={tooFew}
          onClick={() =>
            onResume({
              ...(chosen !== null && { checkpointId: chosen }),
              ...(steps !== detail.maxSteps && { maxSteps: steps }),
            })
          }
        >
          {lost === null ? 'Resume' : `Discard and resume from step ${from}`}
        </Button>
      </Group>
    </Modal>
  );
}
