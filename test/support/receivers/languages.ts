/** A program and its arguments, run in a folder that holds the pages' files and this folder's. */
export type Command = readonly [program: string, ...args: readonly string[]]

/** How to run what a page of docs/receivers shows. */
export interface Language {
  readonly name: string
  /** Prints the runtime's version, and fails where it is not installed or older than the page says. */
  readonly version: Command
  readonly builds: readonly Command[]
  /** Reads cases as lines, and prints the verdict of the page's verifier on each. */
  readonly judge: Command
  /** Receivers that read their secrets with each request: without any they answer 500. */
  readonly perRequest?: readonly string[]
  /** Serve the page's receivers on `port`. */
  readonly receivers: (port: number) => Readonly<Record<string, Command>>
}

const node = process.execPath

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Node',
    version: [node, '--version'],
    builds: [],
    judge: [node, 'judge.mjs'],
    perRequest: ['a worker'],
    receivers: () => ({
      'node:http': [node, 'node.mjs'],
      Express: [node, 'express.mjs'],
      'a worker': [node, 'serve-worker.mjs'],
    }),
  },
  {
    name: 'Python',
    version: ['python3', '--version'],
    builds: [],
    judge: ['python3', 'judge.py'],
    receivers: () => ({ 'http.server': ['python3', 'receiver.py'] }),
  },
  {
    name: 'Go',
    version: ['go', 'version'],
    builds: [
      ['go', 'build', '-o', 'judge', 'verify.go', 'judge.go'],
      ['go', 'build', '-o', 'receiver', 'verify.go', 'receiver.go'],
    ],
    judge: ['./judge'],
    receivers: () => ({ 'net/http': ['./receiver'] }),
  },
  {
    name: 'Ruby',
    version: ['ruby', '-e', 'puts RUBY_VERSION; exit RUBY_VERSION.to_i >= 3'],
    builds: [],
    judge: ['ruby', 'judge.rb'],
    receivers: () => ({ Rack: ['ruby', 'serve-rack.rb'] }),
  },
  {
    name: 'PHP',
    version: ['php', '-r', 'echo PHP_VERSION; exit(PHP_MAJOR_VERSION < 8 ? 1 : 0);'],
    builds: [],
    judge: ['php', 'judge.php'],
    perRequest: ['php://input'],
    receivers: (port) => ({
      'php://input': ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
    }),
  },
  {
    name: 'Java',
    version: ['javac', '--release', '17', '-version'],
    builds: [['javac', 'Signature.java', 'Judge.java', 'Receiver.java']],
    judge: ['java', 'Judge'],
    receivers: () => ({ 'com.sun.net.httpserver': ['java', 'Receiver'] }),
  },
]
