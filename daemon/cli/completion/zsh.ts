import type { Completed } from './tree.ts'
import { flatten, quote } from './tree.ts'

/** `path` is a name of zsh's own, so the words so far are `at`. */
export function printZsh(program: Completed): string {
  const commands = flatten(program)
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quote(` ${path}`))
  const lists = commands.map(
    (command) =>
      `    ${quote(under(command))}) list=(${wordsOf(command).map(quote).join(' ')}) ;;\n`,
  )
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(
        (option) =>
          `    ${quote(`${under(command)} ${option.name}`)}) ${completeValue(option.values)}; return ;;\n`,
      ),
  )
  return `#compdef keyhook
# zsh: keyhook completion zsh > a file _keyhook in a folder of $fpath
_keyhook() {
  local at='' word
  local -a list
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
    ${paths.join(' | \\\n    ')}) at="$at $word" ;;
    esac
  done
  # The value of an option.
  case "$at \${words[CURRENT-1]}" in
${values.join('')}  esac
  case "$at" in
${lists.join('')}  esac
  _describe keyhook list || _files
}
# In a file of $fpath it is called; sourced, it is registered.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _keyhook "$@"
else
  compdef _keyhook keyhook
fi
`
}

function completeValue(values: readonly string[] | undefined): string {
  return values === undefined ? '_files' : `compadd -- ${values.map(quote).join(' ')}`
}

function under({ path }: Completed): string {
  return path === '' ? '' : ` ${path}`
}

/** Each word with what it means, after a colon. */
function wordsOf({ children, values, options }: Completed): readonly string[] {
  const described = (word: string, summary: string): string =>
    summary === '' ? word : `${word}:${summary}`
  return [
    ...children.map(({ path, summary }) => described(path.split(' ').at(-1) ?? '', summary)),
    ...values,
    ...options.map(({ name, summary }) => described(name, summary)),
  ]
}
