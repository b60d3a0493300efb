import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Fragment, useEffect } from 'react'
import { BRAND } from '../shell/brand.ts'
import { useReach } from '../shell/reach.ts'

export interface Crumb {
  readonly name: string
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
}

/** Breadcrumb, title, state and main action of a page, and its content. */
export function PageFrame({
  title,
  crumbs = [],
  state,
  actions,
  children,
}: {
  readonly title: string
  readonly crumbs?: readonly Crumb[]
  readonly state?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  const { part } = useReach()
  useEffect(() => {
    document.title = `${title} · ${`${BRAND} ${part}`.trim()}`
  }, [title, part])
  return (
    <>
      {crumbs.length > 0 && (
        <nav aria-label="Breadcrumb" className="crumbs">
          {crumbs.map(({ name, to, params }) => (
            <Fragment key={to}>
              <Link to={to} params={params ?? {}}>
                {name}
              </Link>
              <span aria-hidden="true">/</span>
            </Fragment>
          ))}
        </nav>
      )}
      <header className="page-head">
        <h1>{title}</h1>
        {state}
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A section with a heading. */
export function Section({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <section className="section">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** Facts of a record, by name. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What will be here, one button, and the command that does the same. */
export function Empty({
  children,
  action,
  command,
}: {
  readonly children: ReactNode
  readonly action?: ReactNode
  readonly command?: string
}) {
  const { isStudio } = useReach()
  return (
    <div className="empty">
      <p>{children}</p>
      {action}
      {isStudio && command !== undefined && (
        <p className="quiet">
          Or on the command line: <code>{command}</code>
        </p>
      )}
    </div>
  )
}
