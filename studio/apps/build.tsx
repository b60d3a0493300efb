import { Section } from '../parts/page.tsx'
import { Edits } from './edits.tsx'
import { Preview } from './preview.tsx'
import { PromptForm } from './prompt-form.tsx'

/** Changes by prompt and what became of them, next to the result. */
export function Page() {
  return (
    <div className="workbench">
      <div>
        <PromptForm />
        <Section title="Edits">
          <Edits />
        </Section>
      </div>
      <Preview />
    </div>
  )
}
