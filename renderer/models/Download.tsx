/** Downloading a model from the Hugging Face hub. */
import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import type { DialogProps } from './Import.tsx';
import classes from './Models.module.css';

export function Download({ opened, onClose }: DialogProps) {
  const [repo, setRepo] = useState('');
  const [revision, setRevision] = useState('main');
  const begin = useMutation({
    mutationFn: () => client.models.download({ repo, revision: revision.trim() || 'main' }),
    onSuccess: () => {
      setRepo('');
      onClose();
    },
  });
  const close = (): void => {
    begin.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title="Download a model from Hugging Face" size="lg">
      <form
        className={classes.dialog}
        onSubmit={(event) => {
          event.preventDefault();
          begin.mutate();
        }}
      >
        <p>
          The machine that Braid runs on fetches it into the workspace. Small files come first, so that a model that
          Braid can't read is refused early. Nothing else is sent.
        </p>
        <TextInput
          label="Model"
          description="Its name on the hub, or the address of its page"
          placeholder="HuggingFaceTB/SmolLM2-135M-Instruct"
          value={repo}
          onChange={(event) => setRepo(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label="Revision"
          description="A branch, tag or commit"
          value={revision}
          onChange={(event) => setRevision(event.currentTarget.value)}
        />
        {begin.error !== null && <Failed what="The download was not begun" error={begin.error} />}
        <div className={classes.buttons}>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" disabled={repo.trim() === ''} loading={begin.isPending}>
            Download
          </Button>
        </div>
      </form>
    </Modal>
  );
}
