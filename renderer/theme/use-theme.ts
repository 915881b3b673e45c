import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../api/client.ts';

/** Applies the theme from the settings: light, dark or the system's. */
export function useTheme(): void {
  const { data } = useQuery(api.settings.get.queryOptions());
  const { setColorScheme } = useMantineColorScheme();
  const theme = data?.theme;
  useEffect(() => {
    if (theme !== undefined) setColorScheme(theme === 'system' ? 'auto' : theme);
  }, [theme, setColorScheme]);
}
