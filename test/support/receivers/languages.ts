/** A program and its arguments, run in a folder that holds a page's files and those of `programs`. */
export type Command = readonly [program: string, ...args: readonly string[]]

/** How to run what a page of docs/receivers shows, beyond the commands of the page. */
export interface Language {
  readonly name: string
  /** In docs/receivers. */
  readonly page: string
  /** Prints the runtime's version, and fails where it is not installed or older than the page says. */
  readonly version: Command
  /** Whether the page's `install` commands are run: not where they install this package. */
  readonly installs: boolean
  readonly builds: readonly Command[]
  /** Reads cases as lines, and prints the verdict of the page's verifier on each. */
  readonly judge: Command
  /** Receivers that read their secrets with each request: without any they answer 500. */
  readonly perRequest?: readonly string[]
  /** Receivers that verify the form of Standard Webhooks, with the library of their language. */
  readonly standard?: readonly string[]
  /** Commands that run what a page leaves to a platform. */
  readonly serves?: Readonly<Record<string, string>>
}

const node = process.execPath

/** Refuses what is newer than the version that the page names. */
const GO_VET = `mkdir oldest && cp verify.go receiver.go oldest && cd oldest
  go mod init receiver && go mod edit -go=1.22 && go vet .`

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Node',
    page: 'node.md',
    version: [node, '--version'],
    installs: false,
    builds: [],
    judge: [node, 'judge.mjs'],
    perRequest: ['worker'],
    serves: { worker: 'node serve-worker.mjs' },
  },
  {
    name: 'Python',
    page: 'python.md',
    version: ['python3', '--version'],
    installs: true,
    builds: [],
    judge: ['python3', 'judge.py'],
    standard: ['django', 'fastapi'],
  },
  {
    name: 'Go',
    page: 'go.md',
    version: ['go', 'version'],
    installs: true,
    builds: [
      ['go', 'build', '-o', 'judge', 'verify.go', 'judge.go'],
      ['sh', '-ec', GO_VET],
    ],
    judge: ['./judge'],
    standard: ['gin'],
  },
  {
    name: 'Ruby',
    page: 'ruby.md',
    version: [
      'sh',
      '-c',
      `ruby -e 'puts RUBY_VERSION; exit RUBY_VERSION >= "3.1"' && puma --version`,
    ],
    installs: true,
    builds: [],
    judge: ['ruby', 'judge.rb'],
  },
  {
    name: 'PHP',
    page: 'php.md',
    version: ['php', '-r', 'echo PHP_VERSION; exit(PHP_MAJOR_VERSION < 8 ? 1 : 0);'],
    installs: true,
    builds: [],
    judge: ['php', 'judge.php'],
    perRequest: ['php'],
  },
  {
    name: 'Java',
    page: 'java.md',
    version: ['javac', '--release', '17', '-version'],
    installs: true,
    builds: [['javac', 'Signature.java', 'Judge.java']],
    judge: ['java', 'Judge'],
    standard: ['spring'],
  },
  {
    name: 'Rust',
    page: 'rust.md',
    version: ['cargo', '--version'],
    installs: true,
    // The page builds it with the receiver.
    builds: [],
    judge: ['target/debug/judge'],
  },
]
