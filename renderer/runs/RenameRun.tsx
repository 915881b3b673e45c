/** Gives a run another name; its folder keeps its own. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';

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
  const isFit = wanted.trim() !== '';
  return (
    <Modal opened onClose={onClose} title={`Rename ${name}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isFit) rename.mutate();
        }}
      >
        <TextInput
          label="Name"
          description="Its folder keeps its own name."
          maxLength={500}
          value={wanted}
          data-autofocus
          onChange={({ currentTarget }) => setWanted(currentTarget.value)}
          error={isFit ? null : 'Expected a name'}
        />
        {rename.error !== null && <Failed what="The run could not be renamed" error={rename.error} />}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!isFit} loading={rename.isPending}>
            Rename
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
