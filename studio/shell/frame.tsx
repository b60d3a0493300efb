import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import type { Place } from '../search/places.ts'
import { Search } from '../search/search.tsx'
import { OtherUser } from '../session/other-user.tsx'
import { isSignedOut, session } from '../session/session.ts'
import { BRAND } from './brand.ts'

const PLACES: readonly Place[] = [
  ['Home', '/', 'home'],
  ['Apps', '/apps', 'apps'],
  ['Webhooks', '/webhooks', 'webhooks'],
  ['Events', '/events', 'events'],
  ['Keys', '/keys', 'keys'],
  ['Billing', '/billing', 'billing'],
  ['Settings', '/settings', 'settings'],
  ['Audit', '/audit', 'audit'],
]

/** The pages of a signed-in user. */
export function Frame() {
  return (
    <>
      <Layout of={PLACES} part="Studio" search={<Search places={PLACES} />} menu={<UserMenu />} />
      <OtherUser />
    </>
  )
}

/** The rail, the bar and the page between them. The first place is where the name leads. */
export function Layout({
  of: places,
  part,
  search,
  menu,
}: {
  readonly of: readonly Place[]
  readonly part: string
  readonly search?: ReactNode
  readonly menu: ReactNode
}) {
  const [[, first] = ['', '/']] = places
  const [isOpen, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const main = useRef<HTMLElement>(null)
  useEffect(() => setOpen(false), [path])
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="bar">
        <ActionIcon
          className="bar-menu"
          variant="subtle"
          aria-label="Menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
        </ActionIcon>
        <Link to={first} className="brand">
          {BRAND} <span>{part}</span>
        </Link>
        <Online />
        {search}
        <ThemeMenu />
        {menu}
      </header>
      <nav className="rail" aria-label="Main" data-open={isOpen || undefined}>
        {places.map(([name, to, icon]) => (
          <Link key={to} to={to} activeOptions={{ exact: to === first }}>
            <Icon name={icon} />
            {name}
          </Link>
        ))}
      </nav>
      <main ref={main} tabIndex={-1} className="main">
        <Outlet />
      </main>
    </div>
  )
}

function Online() {
  // Not `navigator.onLine` at first: it is false on a machine with no network but its own, which reaches the service.
  const [isOnline, setOnline] = useState(true)
  useEffect(() => {
    const note = (): void => setOnline(navigator.onLine)
    addEventListener('online', note)
    addEventListener('offline', note)
    return () => {
      removeEventListener('online', note)
      removeEventListener('offline', note)
    }
  }, [])
  return (
    <span role="status" className="online">
      {isOnline ? '' : 'Offline: what you see may be old'}
    </span>
  )
}

const THEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'As the system'],
] as const

function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 100 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label="Theme">
          <Icon name="theme" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {THEMES.map(([value, name]) => (
          <Menu.Item
            key={value}
            onClick={() => setColorScheme(value)}
            rightSection={colorScheme === value ? <Icon name="done" /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function UserMenu() {
  const { data } = useSuspenseQuery(session)
  const signOut = useMutation({
    mutationFn: () => api.accounts.signOut(),
    // A new page holds nothing of the session that ended.
    onSuccess: () => location.assign(new URL('sign-in', document.baseURI)),
    onError(error) {
      if (isSignedOut(error)) location.assign(new URL('sign-in', document.baseURI))
    },
  })
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 100 }}>
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`User ${data.user.email}`}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {data.user.email}
          <br />
          Plan: {data.account.plan}
        </Menu.Label>
        <Menu.Item component={Link} to="/sessions">
          Sessions
        </Menu.Item>
        <Menu.Item closeMenuOnClick={false} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
        {signOut.error !== null && <Problem error={signOut.error} />}
      </Menu.Dropdown>
    </Menu>
  )
}
