/** Downloads a model from the Hugging Face Hub. */
import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../api/client.ts';
import { DialogForm, type DialogProps } from '../components/DialogForm.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';

export interface DownloadProps extends DialogProps {
  /** The name that was entered elsewhere. */
  readonly start?: string;
}

export function Download({ onClose, start: entered = '' }: DownloadProps) {
  const [repo, setRepo] = useState(entered);
  const [revision, setRevision] = useState('main');
  const discard = useDiscardQuestion({ isChanged: () => repo !== entered || revision !== 'main', close: onClose });
  const start = useMutation({
    mutationFn: () => client.models.download({ repo, revision: revision.trim() || 'main' }),
    onSuccess: onClose,
  });
  return (
    <DialogForm
      onClose={onClose}
      title="Download a model from Hugging Face"
      action="Download"
      what="The download could not be started"
      disabled={repo.trim() === ''}
      discard={discard}
      mutation={start}
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
    </DialogForm>
  );
}
