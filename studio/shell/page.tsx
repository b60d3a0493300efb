import './mantine.ts'
import './look.css'
import './frame.css'
import '../parts/parts.css'
import type { MantineColorSchemeManager } from '@mantine/core'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from '../api/client.ts'
import { theme } from './theme.ts'

/** Shows an application in the element with this id, with what all pages share. */
export function show(
  id: string,
  colorSchemeManager: MantineColorSchemeManager,
  application: ReactNode,
): void {
  const place = document.getElementById(id)
  if (place === null) throw new Error('the page has no place for the application')
  createRoot(place).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={colorSchemeManager}
        withCssVariables={false}
        withGlobalClasses={false}
        withStaticClasses={false}
      >
        <QueryClientProvider client={queries}>{application}</QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
