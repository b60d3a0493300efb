import { Button, Modal } from '@mantine/core'
import type { ComponentType } from 'react'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import type { Place } from './places.ts'

interface PaletteProps {
  readonly places: readonly Place[]
  readonly close: (went: boolean) => void
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)

const load = (): Promise<ComponentType<PaletteProps>> =>
  import('./palette.tsx').then(({ Palette }) => Palette)

/** The button of the search, and its shortcut on every page. What it opens is loaded when it is first asked for. */
export function Search({ places }: { readonly places: readonly Place[] }) {
  const { isOpen, open, close } = useOpened()
  return (
    <>
      <Button
        variant="default"
        size="xs"
        className="bar-search"
        classNames={{ label: 'bar-search-text', section: 'bar-search-section' }}
        aria-label="Search"
        aria-haspopup="dialog"
        aria-keyshortcuts={IS_MAC ? 'Meta+K' : 'Control+K'}
        leftSection={<Icon name="search" />}
        rightSection={<span className="bar-keys" data-keys={IS_MAC ? '⌘K' : 'Ctrl K'} />}
        onPointerEnter={() => void load().catch(() => undefined)}
        onClick={open}
      >
        Search
      </Button>
      {isOpen && <Loading places={places} close={close} />}
    </>
  )
}

/** Whether the search is open; the focus goes back to where it was. */
function useOpened() {
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<Element>(null)
  function open(): void {
    opener.current = document.activeElement
    setOpen(true)
  }
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const isShortcut = (IS_MAC ? event.metaKey : event.ctrlKey) && event.key.toLowerCase() === 'k'
      if (!isShortcut || event.shiftKey || event.altKey || event.defaultPrevented) return
      event.preventDefault()
      // A dialog asks something first, and may show a value that is never shown again.
      if (document.querySelector('[role="dialog"][aria-modal="true"]') === null) open()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return {
    isOpen,
    open,
    close(went: boolean): void {
      setOpen(false)
      const next = went ? document.querySelector('main') : opener.current
      // Once the dialog is gone: it keeps the focus within itself.
      setTimeout(() => next instanceof HTMLElement && next.focus())
    },
  }
}

function Loading({ places, close }: PaletteProps) {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    load().then((loaded) => setPalette(() => loaded), setError)
  }, [])
  if (Palette !== undefined) return <Palette places={places} close={close} />
  if (error === undefined) return null
  return (
    <Modal opened onClose={() => close(false)} title="Search" returnFocus={false}>
      <Problem error={error} />
    </Modal>
  )
}
