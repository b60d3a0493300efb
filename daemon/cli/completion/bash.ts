import type { Completed } from './tree.ts'
import { flatten, quote } from './tree.ts'

/** A word that is a file, where nothing else is known, is completed by the shell. */
export function printBash(program: Completed): string {
  const commands = flatten(program)
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quote(` ${path}`))
  const words = commands.map(
    (command) => `    ${quote(under(command))}) words=${quote(wordsOf(command).join(' '))} ;;\n`,
  )
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(
        (option) =>
          `    ${quote(`${under(command)} ${option.name}`)}) words=${quote((option.values ?? []).join(' '))} ;;\n`,
      ),
  )
  return `# bash: keyhook completion bash > /etc/bash_completion.d/keyhook
_keyhook() {
  local at='' word words='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$at $word" in
    ${paths.join(' | \\\n    ')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${words.join('')}  esac
  # The value of an option.
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('')}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _keyhook keyhook
`
}

function under({ path }: Completed): string {
  return path === '' ? '' : ` ${path}`
}

function wordsOf({ children, values, options }: Completed): readonly string[] {
  return [
    ...children.map(({ path }) => path.split(' ').at(-1) ?? ''),
    ...values,
    ...options.map(({ name }) => name),
  ]
}
