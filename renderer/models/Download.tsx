/** Downloads a model from the Hugging Face Hub. */
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
  const start = useMutation({
    mutationFn: () => client.models.download({ repo, revision: revision.trim() || 'main' }),
    onSuccess: () => {
      setRepo('');
      onClose();
    },
  });
  const close = (): void => {
    start.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title="Download a model from Hugging Face" size="lg">
      <form
        className={classes.dialog}
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <p>
          Downloads into the workspace, on the machine that runs Braid. Small files come first, so that an unsupported
          model is rejected early. Nothing is uploaded.
        </p>
        <TextInput
          label="Model"
          description="Its name on the Hub, or the URL of its page"
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
        {start.error !== null && <Failed what="The download could not be started" error={start.error} />}
        <div className={classes.buttons}>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" disabled={repo.trim() === ''} loading={start.isPending}>
            Download
          </Button>
        </div>
      </form>
    </Modal>
  );
}
