export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface Request {
  readonly instructions: string
  readonly files: string
  readonly passages: string | undefined
  readonly prompt: string
  readonly initial: boolean
}

/** What stays the same from edit to edit comes first, so that servers can keep it. */
export function writeMessages(request: Request): readonly Message[] {
  const parts = [
    request.files,
    ...(request.passages === undefined ? [] : [request.passages]),
    request.initial ? 'The app is new: make it complete, beginning with index.html.' : '',
    `REQUEST\n${request.prompt}`,
  ]
  return [
    { role: 'system', content: request.instructions },
    { role: 'user', content: parts.filter((part) => part !== '').join('\n\n') },
  ]
}
