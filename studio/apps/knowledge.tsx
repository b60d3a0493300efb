import { Section } from '../parts/page.tsx'
import { useApp } from './app.ts'
import { KnowledgeFiles } from './knowledge-files.tsx'
import { Passages } from './passages.tsx'
import { UploadFiles } from './upload-files.tsx'

/** Documents that the model reads when it edits the app, and what would be found in them. */
export function Page() {
  const { id } = useApp()
  return (
    <>
      <UploadFiles app={id} />
      <Section title="Files">
        <KnowledgeFiles app={id} />
      </Section>
      <Section title="What would be found?">
        <Passages app={id} />
      </Section>
    </>
  )
}
