import { PageFrame } from '../parts/page.tsx'

/** Whether anything needs the person; on the first day, the first steps. */
export function Page() {
  return (
    <PageFrame title="Home">
      <p>Signed in.</p>
    </PageFrame>
  )
}
