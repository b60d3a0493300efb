import type { Completed, CompletedOption } from './tree.ts'
import { flatten } from './tree.ts'

/** One line for each word, with the condition under which it is offered. */
export function printFish(program: Completed): string {
  const commands = flatten(program)
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoteFish(` ${path}`))
  return `# fish: keyhook completion fish > ~/.config/fish/completions/keyhook.fish
set -g __keyhook_paths ${paths.join(' ')}

function __keyhook_at
    set -l at
    for word in (commandline -opc)[2..]
        contains -- "$at $word" $__keyhook_paths; and set at "$at $word"
    end
    test "$at" = "$argv[1]"
end

complete -c keyhook -f
${commands.flatMap(linesOf).join('')}`
}

function linesOf({ path, children, values, options }: Completed): readonly string[] {
  const at = path === '' ? '' : ` ${path}`
  const begin = `complete -c keyhook -n ${quoteFish(`__keyhook_at '${at}'`)}`
  return [
    ...children.map(
      (child) => `${begin} -a ${child.path.split(' ').at(-1)} -d ${quoteFish(child.summary)}\n`,
    ),
    ...(values.length === 0 ? [] : [`${begin} -a ${quoteFish(values.join(' '))}\n`]),
    ...options.map((option) => `${begin} ${printOption(option)}\n`),
  ]
}

/** `-r` takes a value, also a file; `-x` takes one of those given. */
function printOption({ name, summary, takesValue, values }: CompletedOption): string {
  const value = values === undefined ? ' -r -F' : ` -x -a ${quoteFish(values.join(' '))}`
  return `-l ${name.slice(2)}${takesValue ? value : ''} -d ${quoteFish(summary)}`
}

/** fish reads backslashes within its quotes. */
function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
