/** Line icons on a grid of 16. */
const PATHS = {
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  done: 'M3 8.5l3.5 3.5L13 4.5',
  failed: 'M8 4.5v4m0 2.5v.5M8 1.8l6.4 11.7H1.6z',
  waiting: 'M8 4v4l2.5 1.5M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 0 1 0-12.4z',
  stopped: 'M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 0 1 0-12.4zM4.5 4.5l7 7',
  home: 'M2.5 7.5L8 2.5l5.5 5v6h-4v-4h-3v4h-4z',
  apps: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z',
  billing: 'M2 4h12v8.5h-12zM2 7h12M4.5 10h3',
  webhooks: 'M2.5 8h4m3 0h4M6.5 8l3 0M4.5 5l-3 3l3 3M11.5 5l3 3l-3 3',
  events: 'M3 4h10M3 8h10M3 12h6',
  audit: 'M4 2.5h8v11h-8zM6 5.5h4M6 8h4M6 10.5h2.5',
  accounts:
    'M6 8a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5zM1.5 13.5c.5-2.5 2-3.5 4.5-3.5s4 1 4.5 3.5M10.5 3.200a2.5 2.5 0 0 1 0 4.600M12 10.200c1.5.5 2.300 1.5 2.5 3.300',
  settings: 'M2.5 4.5h6M11.5 4.5h2M10 3v3M2.5 11.5h2M7.5 11.5h6M6 10v3',
  keys: 'M5 8a2.5 2.5 0 1 0 0 .1zM7.5 8h6.5v2.5M11 8v2',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9zM10.3 10.3L14 14',
  menu: 'M2.5 4h11m-11 4h11m-11 4h11',
  theme: 'M8 2.2a5.8 5.8 0 1 0 0 11.6zM8 2.2a5.8 5.8 0 0 1 0 11.6',
  add: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  user: 'M8 8.5a3 3 0 1 0 0-6a3 3 0 0 0 0 6zM2.5 14c.8-3 3-4 5.5-4s4.7 1 5.5 4',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
