import t from 'tap'
import type { Template } from '../../daemon/families/apps/templates.ts'
import type { Element } from '../support/templates.ts'
import { elementsOf, filesOf, templates, textOf } from '../support/templates.ts'

interface Rule {
  /** The conditions and the selector it stands in, from the outside. */
  readonly within: readonly string[]
  readonly declarations: ReadonlyMap<string, string>
}

function rulesOf(css: string): readonly Rule[] {
  const rules: Rule[] = []
  const within: string[] = []
  let declarations = new Map<string, string>()
  for (const [, text = '', sign] of css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .matchAll(/([^{};]*)([{};])/g)) {
    const [name = '', ...value] = text.trim().split(':')
    if (sign === '{') within.push(text.trim())
    else if (name !== '') declarations.set(name, value.join(':').trim())
    if (sign !== '}') continue
    if (declarations.size > 0) rules.push({ within: [...within], declarations })
    declarations = new Map()
    within.pop()
  }
  return rules
}

const styleOf = (template: Template): readonly Rule[] =>
  filesOf(template, '.css').flatMap((file) => rulesOf(textOf(file)))

await t.test('a page says what it is', async (t) => {
  for (const template of templates) {
    for (const page of filesOf(template, '.html')) {
      const html = textOf(page)
      const elements = elementsOf(html)
      const label = `${template.id}/${page.path}`
      const all = (name: string): readonly Element[] => elements.filter((one) => one.name === name)
      const meta = (name: string): string | undefined =>
        all('meta')
          .find(({ attributes }) => attributes.get('name') === name)
          ?.attributes.get('content')
      t.match(html, /^<!doctype html>/, label)
      t.equal(all('html')[0]?.attributes.get('lang'), 'en', label)
      t.equal(meta('viewport'), 'width=device-width, initial-scale=1', label)
      t.ok(meta('description'), label)
      t.ok(all('title')[0]?.text, label)
      t.equal(all('main').length, 1, label)
      const levels = elements.flatMap(({ name }) => /^h([1-6])$/.exec(name)?.[1] ?? []).map(Number)
      t.equal(levels.filter((level) => level === 1).length, 1, `${label}: one h1`)
      t.ok(
        levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1),
        `${label}: no heading level is skipped`,
      )
    }
  }
})

await t.test('everything on a page has a name that can be read aloud', async (t) => {
  for (const template of templates) {
    for (const page of filesOf(template, '.html')) {
      const elements = elementsOf(textOf(page))
      const ids = elements.flatMap(({ attributes }) => attributes.get('id') ?? [])
      const labelled = elements.flatMap(({ name, attributes }) =>
        name === 'label' ? (attributes.get('for') ?? []) : [],
      )
      t.equal(new Set(ids).size, ids.length, `${template.id}: ids are unique`)
      for (const { name, attributes, text } of elements) {
        const label = `${template.id}/${page.path}: ${name} ${attributes.get('id') ?? ''}`
        if (name === 'img') t.ok(attributes.has('alt'), label)
        if (name === 'button' || name === 'a') t.ok(text.trim(), label)
        if (name === 'button') t.ok(attributes.has('type'), label)
        if (['input', 'select', 'textarea'].includes(name)) {
          t.ok(labelled.includes(attributes.get('id') ?? ''), label)
        }
        const pointers = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls']
        const targets = pointers.flatMap((key) => attributes.get(key)?.split(' ') ?? [])
        const fragment = /^#(.+)/.exec(attributes.get('href') ?? '')?.[1]
        for (const target of [...targets, fragment ?? []].flat()) {
          t.ok(ids.includes(target), `${label} -> ${target}`)
        }
      }
    }
  }
})

await t.test('nothing moves for who asked for less motion, and focus stays visible', async (t) => {
  for (const template of templates) {
    for (const { within, declarations } of styleOf(template)) {
      const label = `${template.id}: ${within.join(' ')}`
      const moves = ['transition', 'animation', 'scroll-behavior'].some((key) =>
        declarations.has(key),
      )
      const calm = within.includes('@media (prefers-reduced-motion: no-preference)')
      t.ok(!moves || calm, label)
      // What a link within the page leads to takes the focus without being a control.
      const outline = declarations.get('outline')
      t.ok(outline !== 'none' || within.at(-1) === 'main:focus', label)
    }
  }
})

type Rgb = readonly [number, number, number]

function rgbOf(colour: string): Rgb {
  const [, red, green, blue] = /^#(\w\w)(\w\w)(\w\w)$/.exec(colour) ?? []
  if (!red || !green || !blue) throw new TypeError(`Not a colour of six digits: ${colour}`)
  return [Number(`0x${red}`), Number(`0x${green}`), Number(`0x${blue}`)]
}

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function luminance(colour: string): number {
  const [red, green, blue] = rgbOf(colour).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

await t.test('colours are readable on light and on dark screens', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21)
  const paint = /^(color|background|background-color|fill|border-color)$/
  for (const template of templates) {
    const rules = styleOf(template)
    const named = (condition: string | undefined): readonly [string, string][] =>
      rules
        .filter(({ within }) => within.at(-1) === ':root' && within.at(-2) === condition)
        .flatMap(({ declarations }) => [...declarations])
        .filter(([name]) => name.startsWith('--'))
    const light = new Map(named(undefined))
    const dark = new Map([...light, ...named('@media (prefers-color-scheme: dark)')])
    t.notSame([...light], [...dark], `${template.id}: has a dark side`)

    const used = (property: RegExp): ReadonlySet<string> =>
      new Set(
        rules.flatMap(({ declarations }) =>
          [...declarations].flatMap(([key, value]) =>
            property.test(key) ? (/^var\((--[\w-]+)\)$/.exec(value)?.[1] ?? []) : [],
          ),
        ),
      )
    for (const { within, declarations } of rules) {
      for (const [key, value] of declarations) {
        if (!paint.test(key) || within.at(-1)?.endsWith('::backdrop')) continue
        if (!/^(var\(--[\w-]+\)|none)$/.test(value)) t.fail(`${template.id}: ${key}: ${value}`)
        const own = value.replace('var(--', '--on-').replace(')', '')
        if (!key.startsWith('background') || !light.has(own)) continue
        t.equal(declarations.get('color'), `var(${own})`, `${template.id}: text on ${value}`)
      }
    }
    for (const [scheme, colours] of Object.entries({ light, dark })) {
      const colour = (name: string): string => colours.get(name) ?? ''
      for (const ground of used(/^background(-color)?$/)) {
        const own = ground.replace('--', '--on-')
        const texts = colours.has(own)
          ? [own]
          : [...used(/^color$/)].filter((name) => !name.startsWith('--on-'))
        const shapes = colours.has(own) ? [] : ['--control', '--focus', '--series', '--danger']
        for (const [names, least] of [[texts, 4.5] as const, [shapes, 3] as const]) {
          for (const name of names.filter((one) => colours.has(one))) {
            const ratio = contrast(colour(name), colour(ground))
            const label = `${template.id}, ${scheme}: ${name} on ${ground} is ${ratio.toFixed(2)}`
            t.ok(ratio >= least, label)
          }
        }
      }
    }
  }
})
