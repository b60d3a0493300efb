/** The web application: a client of the same API as everyone else's, with the session of a person. */
import './shell/mantine.ts'
import './shell/look.css'
import './shell/frame.css'
import './parts/parts.css'
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/client.ts'
import { router } from './router.ts'
import { ConfirmProvider } from './session/confirm.tsx'
import { theme } from './shell/theme.ts'

const place = document.querySelector('#studio')
if (place === null) throw new Error('the page has no place for the application')

createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'studio-theme' })}
      withCssVariables={false}
      withGlobalClasses={false}
      withStaticClasses={false}
    >
      <QueryClientProvider client={queries}>
        <ConfirmProvider>
          <RouterProvider router={router} />
        </ConfirmProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
