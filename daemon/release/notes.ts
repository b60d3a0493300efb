/**
 * The notes of a version, from the changelog: its section, or what is not released yet.
 *
 * @throws Error for a changelog that says nothing of it
 */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const named = (name: string): string | undefined =>
    sections.find((section) => section.split(/\s/, 1)[0] === name)
  const section = named(version) ?? named('Unreleased')
  const text = section?.split('\n').slice(1).join('\n').trim() ?? ''
  if (text === '') throw new Error(`docs/CHANGELOG.md says nothing of ${version}`)
  return `# Keyhook ${version}\n\n${text}\n`
}
