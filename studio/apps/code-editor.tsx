import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { css } from '@codemirror/lang-css'
import { html } from '@codemirror/lang-html'
import { javascript } from '@codemirror/lang-javascript'
import { HighlightStyle, bracketMatching, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

const LANGUAGES: Readonly<Record<string, () => Extension>> = {
  css,
  html,
  js: javascript,
  json: javascript,
  mjs: javascript,
  svg: html,
}

const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.tagName], color: 'var(--accent-text)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.attributeName], color: 'var(--wait)' },
  { tag: [tags.comment, tags.meta], color: 'var(--quiet)' },
])

const LOOK = EditorView.theme({
  '&': { height: '100%', fontSize: '0.8125rem', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent-text)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    border: '0',
    backgroundColor: 'var(--panel)',
    color: 'var(--quiet)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--panel)' },
})

const BASICS: Extension = [
  lineNumbers(),
  history(),
  bracketMatching(),
  highlightActiveLine(),
  // Tab leaves the editor, so that it is no trap.
  keymap.of([...defaultKeymap, ...historyKeymap]),
  EditorView.lineWrapping,
  syntaxHighlighting(COLORS),
  LOOK,
]

/** Keyed by its file: the given text is where it begins. */
export default function CodeEditor({
  label,
  path,
  text,
  type,
}: {
  readonly label: string
  readonly path: string
  readonly text: string
  readonly type: (text: string) => void
}) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ label, path, text, type })
  latest.current.type = type
  useEffect(() => {
    if (host.current === null) return undefined
    const { label: name, path: file, text: doc } = latest.current
    const language = LANGUAGES[file.split('.').at(-1) ?? '']
    const state = EditorState.create({
      doc,
      extensions: [
        BASICS,
        language?.() ?? [],
        EditorView.contentAttributes.of({ 'aria-label': name }),
        EditorView.updateListener.of(({ docChanged, state: { doc: typed } }) => {
          if (docChanged) latest.current.type(typed.toString())
        }),
      ],
    })
    // In a shadow tree the editor adopts its style sheets; in the page it would write style elements, which the page's
    // policy forbids.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const view = new EditorView({ state, parent: root, root })
    return () => view.destroy()
  }, [])
  return <div ref={host} className="code" />
}
