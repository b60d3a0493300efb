/** Below this share of the old length, a bare `...` is taken for what was left out. */
const SHRUNK = 0.6

const DOTS = String.raw`(?:\.{3}|…)`
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|<!--|\{\/\*|--|;)\s*(.*?)\s*(?:\*\/\}?|-->)?\s*$/
const LEFT_OUT: readonly RegExp[] = [
  new RegExp(
    String.raw`^${DOTS}\s.*\b(rest|remain\w*|existing|other|previous|same|unchanged|keep)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(rest|remain\w*|existing|other|previous|same|unchanged|keep)\b.*${DOTS}$`,
    'i',
  ),
  /\brest of (the |your )?(code|file|content|page|styles?|css|html|script|markup|functions?)\b/i,
  /\b(remaining|existing|previous|other) (code|content|styles?|rules|functions?|markup|sections?)\b.*\b(stays?|remains?|here|unchanged|goes|same|as before|omitted)\b/i,
  /\b(omitted for brevity|same as before|unchanged from|no changes? (below|here))\b/i,
]
/** A comment in location of code is short; a line can be as long as a file. */
const MAX_WIDTH = 300
const BARE = new RegExp(`^${DOTS}$`)

/**
 * The first line that replaces text which the model left out, such as a comment that the rest of the code
 * stays. Lines of the old text do not count.
 */
export function findElision(text: string, old: string | undefined): string | undefined {
  const known = new Set(old?.split('\n').map((line) => line.trim()))
  const isShrunk = old !== undefined && text.length < old.length * SHRUNK
  return text.split('\n').find((line) => {
    const trimmed = line.trim()
    if (trimmed === '' || known.has(trimmed)) return false
    const comment = COMMENT.exec(line.slice(0, MAX_WIDTH))?.[1]
    if (BARE.test(comment ?? trimmed)) return isShrunk
    return comment !== undefined && LEFT_OUT.some((pattern) => pattern.test(comment))
  })
}
