import { Screen } from '../components/Screen.tsx';

export function Home() {
  return <Screen title="Home">…</Screen>;
}
