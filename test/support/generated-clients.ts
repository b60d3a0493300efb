import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../arch/source.ts'
import { MINUTE } from '../../lib/time.ts'

type Command = readonly string[]

/** A generator of clients, with a program that uses what it made. */
export interface ClientOf {
  readonly language: string
  /** What tells that the language's tools are there. */
  readonly toolchain: Command
  /** Installs the generator, of one version. */
  readonly install: readonly Command[]
  /** From `openapi.json` in the folder to a program that starts. Nothing may warn. */
  readonly build: readonly Command[]
  readonly program: Command
}

const GO_CONFIG = `package: keyhook
generate: { models: true, client: true }
output-options: { nullable-type: true }
output: keyhook/keyhook.gen.go
`

const JAVA_GENERATOR = 'org.openapitools:openapi-generator-cli:7.16.0'

/** @param folder an empty one, in which all of a language is made */
export const CLIENTS: readonly ((folder: string) => ClientOf)[] = [
  (folder) => {
    mkdirSync(join(folder, 'keyhook'))
    writeFileSync(join(folder, 'config.yaml'), GO_CONFIG)
    writeFileSync(join(folder, 'go.mod'), 'module clients\n\ngo 1.24\n')
    cpSync(join(ROOT, 'test/clients/go'), folder, { recursive: true })
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'
    return {
      language: 'Go',
      toolchain: ['go', 'version'],
      install: [['env', `GOBIN=${folder}/bin`, 'go', 'install', `${generator}@v2.8.2`]],
      build: [
        ['bin/oapi-codegen', '-config', 'config.yaml', 'openapi.json'],
        ['go', 'mod', 'tidy'],
        ['go', 'vet', './...'],
        ['go', 'build', '-o', 'program', '.'],
      ],
      program: [join(folder, 'program')],
    }
  },
  (folder) => {
    const source = join(folder, 'client/src/main/java')
    return {
      language: 'Java',
      toolchain: ['mvn', '-version'],
      install: [
        [
          'mvn',
          '-q',
          'dependency:copy',
          `-Dartifact=${JAVA_GENERATOR}`,
          `-DoutputDirectory=${folder}`,
        ],
      ],
      build: [
        [
          'java',
          '-jar',
          'openapi-generator-cli-7.16.0.jar',
          'generate',
          '-g',
          'java',
          '--library',
          'native',
          '-i',
          'openapi.json',
          '-o',
          'client',
          // Without it, the model of a form is imported and not made.
          '--global-property=skipFormModel=false',
          // Without it, every list that is not given is sent as an empty one.
          '--additional-properties=containerDefaultToNull=true',
        ],
        ['cp', join(ROOT, 'test/clients/java/Main.java'), source],
        [
          'mvn',
          '-q',
          '-f',
          'client',
          '-Dmaven.test.skip=true',
          'compile',
          'dependency:copy-dependencies',
        ],
      ],
      program: [
        'java',
        '-cp',
        `${folder}/client/target/classes:${folder}/client/target/dependency/*`,
        'Main',
      ],
    }
  },
  (folder) => ({
    language: 'Python',
    toolchain: ['python3', '--version'],
    install: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '-q', 'openapi-python-client==0.29.1', 'ruff==0.14.5'],
    ],
    build: [
      [
        'env',
        `PATH=${folder}/venv/bin:${process.env['PATH'] ?? ''}`,
        'openapi-python-client',
        'generate',
        '--fail-on-warning',
        '--path',
        'openapi.json',
        '--output-path',
        'client',
      ],
      ['venv/bin/pip', 'install', '-q', './client'],
    ],
    program: [join(folder, 'venv/bin/python'), join(ROOT, 'test/clients/python/main.py')],
  }),
]

/** What a command said, unless it succeeded. */
export function failureOf([program = '', ...args]: Command, cwd: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: 10 * MINUTE,
    maxBuffer: 64 * 1_048_576,
  })
  if (status === 0) return undefined
  return `${program} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`.slice(-4000)}`
}

/** Whether the language is there, and its generator could be installed. */
export function isInstalled({ toolchain, install }: ClientOf, cwd: string): boolean {
  if (!existsSync(cwd)) throw new Error(`${cwd} is missing`)
  return [toolchain, ...install].every((command) => failureOf(command, cwd) === undefined)
}
