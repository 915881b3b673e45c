/** Compare: asks a new comparison, and lists the earlier ones, which open at once. */
import { Screen } from '../components/Screen.tsx';
import { Earlier } from './Earlier.tsx';
import { NewComparison } from './NewComparison.tsx';

export function Compare() {
  return (
    <Screen
      title="Compare"
      about={<span>A baseline against trained checkpoints, on the same prompts that none of them was trained on.</span>}
    >
      <NewComparison />
      <Earlier />
    </Screen>
  );
}
