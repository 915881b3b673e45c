import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../api/client.ts';

/** Light, dark or as the system, as the settings say. */
export function useTheme(): void {
  const { data } = useQuery(api.settings.get.queryOptions());
  const { setColorScheme } = useMantineColorScheme();
  const theme = data?.theme;
  useEffect(() => {
    if (theme !== undefined) setColorScheme(theme === 'system' ? 'auto' : theme);
  }, [theme, setColorScheme]);
}
