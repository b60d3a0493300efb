import { Link } from '@tanstack/react-router'

const TABS = [
  ['Members', '/settings'],
  ['Sessions', '/sessions'],
] as const

/** Pages about the people of the account. */
export function SettingsTabs() {
  return (
    <nav aria-label="Settings" className="tabs">
      {TABS.map(([name, to]) => (
        <Link key={to} to={to} activeOptions={{ exact: true }}>
          {name}
        </Link>
      ))}
    </nav>
  )
}
