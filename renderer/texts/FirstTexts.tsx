/** The empty corpus, with two ways to start. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { Empty, Failed } from '../components/Feedback.tsx';
import classes from './Texts.module.css';
import { TEXT_TYPES } from './text-files.ts';

export function FirstTexts({ onImport }: { readonly onImport: () => void }) {
  const bundled = useMutation(api.texts.importBundled.mutationOptions());
  return (
    <div className={classes.first}>
      <Empty title="No texts yet">
        <p>
          A dataset pairs fragments of different texts. Start with the bundled texts, which are enough for every stage
          up to 500 words. Or import your own: drop files anywhere here, paste, or choose them.
        </p>
        <div className={classes.buttons}>
          <Button loading={bundled.isPending} onClick={() => bundled.mutate(undefined)}>
            Load the bundled texts
          </Button>
          <Button variant="default" onClick={onImport}>
            Import your own …
          </Button>
        </div>
        <p className="faint">
          {TEXT_TYPES}, and chat exports (Grok, ChatGPT, Claude and others), as files, a folder or a .zip
        </p>
      </Empty>
      {bundled.error !== null && <Failed what="The bundled texts were not loaded" error={bundled.error} />}
    </div>
  );
}
