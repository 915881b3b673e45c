/** Renames a run; its folder keeps its name. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';

export interface RenameRunProps {
  readonly runId: number;
  readonly name: string;
  readonly onClose: () => void;
}

export function RenameRun({ runId, name, onClose }: RenameRunProps) {
  const [wanted, setWanted] = useState(name);
  const rename = useMutation({
    mutationFn: () => client.runs.rename({ runId, name: wanted.trim() }),
    onSuccess: onClose,
  });
  const { ask, question } = useDiscardQuestion({
    // The new name may be shown elsewhere before its answer is here: nothing is lost any more.
    isChanged: () => wanted !== name && !rename.isPending && !rename.isSuccess,
    close: onClose,
  });
  const isValid = wanted.trim() !== '';
  return (
    <>
      <Modal opened onClose={() => ask(onClose)} title={`Rename ${name}`}>
        <SubmitForm
          onSubmit={() => {
            if (isValid) rename.mutate();
          }}
        >
          <TextInput
            label="Name"
            description="The run's folder is not renamed"
            maxLength={500}
            value={wanted}
            data-autofocus
            onChange={({ currentTarget }) => setWanted(currentTarget.value)}
            error={isValid ? null : 'Enter a name'}
          />
          {rename.error !== null && <Failed what="The run could not be renamed" error={rename.error} />}
          <Group justify="flex-end" mt="lg">
            <Button variant="default" onClick={() => ask(onClose)}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isValid} loading={rename.isPending}>
              Rename
            </Button>
          </Group>
        </SubmitForm>
      </Modal>
      {question}
    </>
  );
}
