/** The web application: a client of the same API as everyone else's, with the session of a person. */
import { localStorageColorSchemeManager } from '@mantine/core'
import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.ts'
import { ConfirmProvider } from './session/confirm.tsx'
import { show } from './shell/page.tsx'

show(
  'studio',
  localStorageColorSchemeManager({ key: 'studio-theme' }),
  <ConfirmProvider>
    <RouterProvider router={router} />
  </ConfirmProvider>,
)
