/** Texts of files that were typed and not saved: leaving the page of a file keeps them until this page is closed. */
const drafts = new Map<string, string>()

const keyOf = (app: string, path: string): string => `${app} ${path}`

export function draftOf(app: string, path: string): string | undefined {
  return drafts.get(keyOf(app, path))
}

/** @param text undefined once it is saved or given up */
export function keepDraft(app: string, path: string, text: string | undefined): void {
  if (text === undefined) drafts.delete(keyOf(app, path))
  else drafts.set(keyOf(app, path), text)
}

addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault()
})
