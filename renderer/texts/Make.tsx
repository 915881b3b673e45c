/** Making datasets: the recipe on the left, a preview on the right. */
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import classes from './Make.module.css';
import { MakeForm } from './MakeForm.tsx';
import { MakePreview } from './MakePreview.tsx';
import { useRecipe } from './recipe.ts';
import { stageWords } from './stages.ts';
import { TextsScreen } from './TextsScreen.tsx';

/** Debounces numbers while typing. */
const WAIT_MS = 250;

export function Make() {
  const [recipe, change] = useRecipe();
  const [shown, setShown] = useState<number | null>(null);
  const [settled] = useDebouncedValue(recipe, WAIT_MS);
  const asked = [...new Set([...stageWords, ...settled.stages])].sort((a, b) => a - b);
  const { train, test, seed } = settled;
  const overview = useQuery(
    api.texts.overview.queryOptions({ input: { train, test, seed, stages: asked }, placeholderData: keepPreviousData }),
  );
  const words = shown !== null && recipe.stages.includes(shown) ? shown : (recipe.stages[0] ?? null);
  if (overview.error !== null)
    return (
      <TextsScreen>
        <Failed what="The texts can't be measured" error={overview.error} onRetry={() => void overview.refetch()} />
      </TextsScreen>
    );
  if (overview.data === undefined)
    return (
      <TextsScreen>
        <Loading what="the texts" />
      </TextsScreen>
    );
  if (overview.data.texts === 0)
    return (
      <TextsScreen>
        <Empty title="No texts to make datasets from">
          <p>
            Load or import some first: <Link href="/texts">Texts</Link>
          </p>
        </Empty>
      </TextsScreen>
    );
  return (
    <TextsScreen>
      <div className={classes.make}>
        <MakeForm recipe={recipe} supply={overview.data.stages} onChange={change} />
        <MakePreview recipe={settled} words={words} onWords={setShown} />
      </div>
    </TextsScreen>
  );
}
