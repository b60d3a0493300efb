/** A page of docs/receivers, loaded when it is shown. */
type Read = () => Promise<{ readonly default: string }>

/** Languages by the name that an address has. */
const LANGUAGES = {
  node: ['Node, TypeScript', () => import('../../docs/receivers/node.md?raw')],
  python: ['Python', () => import('../../docs/receivers/python.md?raw')],
  go: ['Go', () => import('../../docs/receivers/go.md?raw')],
  java: ['Java', () => import('../../docs/receivers/java.md?raw')],
  ruby: ['Ruby', () => import('../../docs/receivers/ruby.md?raw')],
  php: ['PHP', () => import('../../docs/receivers/php.md?raw')],
  rust: ['Rust', () => import('../../docs/receivers/rust.md?raw')],
} as const satisfies Readonly<Record<string, readonly [name: string, read: Read]>>

type Language = keyof typeof LANGUAGES

export const CHOICES = (Object.keys(LANGUAGES) as Language[]).map(
  (language) => [language, LANGUAGES[language][0]] as const,
)

/** The language that an address names; otherwise the first. */
export function languageOf(name: string | undefined): Language {
  return CHOICES.find(([language]) => language === name)?.[0] ?? 'node'
}

export async function readPage(language: Language): Promise<string> {
  const page = await LANGUAGES[language][1]()
  return page.default
}
