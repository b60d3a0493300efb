import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { SettingInForce } from '../api/client.ts'
import { operatorApi } from '../api/client.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Empty, PageFrame } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Table } from '../parts/table.tsx'

const SOURCES: Readonly<Record<SettingInForce['source'], string>> = {
  variable: 'Environment',
  file: 'File',
  dev: '--dev',
  test: '--test',
  default: 'Default',
}

type Row = SettingInForce & { readonly id: string }

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Setting',
    cell: ({ name, doc }) => (
      <>
        <code>{name}</code>
        <span className="quiet below wide">{doc}</span>
      </>
    ),
  },
  {
    name: 'Value',
    cell: ({ value }) =>
      value === null ? <span className="quiet">Secret, set</span> : <code>{value}</code>,
  },
  { name: 'Source', cell: ({ source }) => <span className="word">{SOURCES[source]}</span> },
]

/** The settings of this process, and where each comes from. */
export function Page() {
  const { all } = useSearch({ from: '/operating/operator/settings' })
  const navigate = useNavigate()
  const settings = useQuery({
    queryKey: ['operator', 'settings'],
    queryFn: () => operatorApi().operator.settings(),
  })
  return (
    <PageFrame title="Settings">
      <div className="filters">
        <Checkbox
          label="Show defaults too"
          checked={all}
          onChange={({ currentTarget: { checked } }) =>
            void navigate({ to: '/operator/settings', search: { all: checked }, replace: true })
          }
        />
      </div>
      <Loaded query={settings}>
        {({ data }) => {
          const rows = data
            .filter(({ source }) => all || source !== 'default')
            .map((setting) => ({ ...setting, id: setting.name }))
          return rows.length === 0 ? (
            <Empty>Every setting has its default.</Empty>
          ) : (
            <Table label="Settings" columns={COLUMNS} rows={rows} />
          )
        }}
      </Loaded>
    </PageFrame>
  )
}
