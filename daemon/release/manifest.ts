/** A file, or one for each condition of those who import it. */
type Target = string | Readonly<Record<string, string>>

/** What a published manifest must say. */
export interface Published {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly engines?: { readonly node?: string }
  readonly repository?: { readonly type?: string; readonly url?: string }
  readonly bugs?: { readonly url?: string }
  readonly homepage?: string
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean }
  readonly imports?: Readonly<Record<string, Target>>
  readonly exports?: Readonly<Record<string, Target>>
  readonly bin?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
}

/** The manifest of a publication from a repository: npm's provenance compares the address with that of the build. */
export function publishedManifest<T extends Published>(manifest: T, repository: string): T {
  return {
    ...manifest,
    repository: { type: 'git', url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
    homepage: `${repository}#readme`,
    publishConfig: { access: 'public', provenance: true },
  }
}

const RULES: readonly (readonly [what: string, isMet: (manifest: Published) => boolean])[] = [
  ['version is one of semver', ({ version = '' }) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)],
  ['license is named', ({ license = '' }) => license !== ''],
  ['engines names Node', ({ engines }) => /^>=\d+\.\d+/.test(engines?.node ?? '')],
  [
    'repository is a public address of git',
    ({ repository }) => /^git\+https:\/\/[\w.-]+\/.+\.git$/.test(repository?.url ?? ''),
  ],
  ['bugs is an address', ({ bugs }) => bugs?.url?.startsWith('https://') === true],
  ['homepage is an address', ({ homepage }) => homepage?.startsWith('https://') === true],
  [
    'publishConfig asks for provenance, and public access',
    ({ publishConfig }) => publishConfig?.provenance === true && publishConfig.access === 'public',
  ],
  [
    'nothing runs when it is installed',
    ({ scripts = {} }) => !['preinstall', 'install', 'postinstall'].some((one) => one in scripts),
  ],
]

/** What a manifest lacks. */
export function manifestFaults(manifest: Published): readonly string[] {
  return RULES.filter(([, isMet]) => !isMet(manifest)).map(
    ([what]) => `package.json: not so: ${what}`,
  )
}

/** Files that must never be published. */
const NEVER = [
  /(^|\/)\.env/,
  /\.test\.js$/,
  /(^|\/)keyhook-data\//,
  /\.(pem|key)$/,
  /\.tsbuildinfo$/,
]

function typesOf(name: string, target: Target): string {
  if (typeof target === 'string') return target.replace(/\.js$/, '.d.ts')
  return target['types'] ?? `types of ${name}`
}

/** What is missing of the files that a manifest names, and what should not be there. */
export function contentFaults(
  { imports = {}, exports = {}, bin = {} }: Published,
  files: ReadonlySet<string>,
): readonly string[] {
  const targets = [imports, exports, bin].flatMap((one) => Object.values<Target>(one))
  const named = targets
    .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    .map((path) => path.replace(/^\.\//, ''))
  const types = Object.entries(exports)
    .filter(([name]) => !name.endsWith('.json'))
    .map(([name, target]) => typesOf(name, target).replace(/^\.\//, ''))
  const beside = ['package.json', 'README.md', 'LICENSE', 'docs/CHANGELOG.md']
  return [
    ...[...named, ...types, ...beside]
      .filter((path) => !files.has(path))
      .map((path) => `${path} is missing`),
    ...[...files]
      .filter((path) => NEVER.some((pattern) => pattern.test(path)))
      .map((path) => `${path} must not be published`),
  ]
}
