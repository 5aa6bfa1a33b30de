import type { ClusterViewName } from '../views.ts'

/** Pages of a cluster, in the order of their tabs. */
export const pages = ['overview', 'plan', 'etcd', 'certificates', 'runs', 'logs'] as const
export type PageName = (typeof pages)[number]

/** What the address shows. Without a cluster it is the fleet. */
export interface Route {
  readonly cluster: string | undefined
  readonly page: PageName
  /** Name of a run, or the search of logs as parameters. */
  readonly item?: string
}

/** A view with its parameters. */
export interface ViewPath {
  readonly name: ClusterViewName
  readonly query: string
}

/** Lists the views that a page of a cluster reads. */
export function listViews({ page, item }: Route): readonly ViewPath[] {
  switch (page) {
    case 'overview':
      return [
        { name: 'status', query: '' },
        { name: 'doctor', query: '' },
      ]
    case 'runs':
      return item === undefined
        ? [{ name: 'runs', query: '' }]
        : [{ name: 'run', query: buildRunQuery(item) }]
    case 'logs':
      return [{ name: 'logs', query: item ?? '' }]
    default:
      return [{ name: page, query: '' }]
  }
}

export function buildRunQuery(run: string): string {
  return new URLSearchParams({ name: run }).toString()
}

export function parseRoute(hash: string): Route {
  const [, cluster, page, item] = hash.replace(/^#\/?/, '/').split('/')
  if (cluster === undefined || cluster === '') return { cluster: undefined, page: 'overview' }
  return {
    cluster: decode(cluster),
    page: pages.find((one) => one === page) ?? 'overview',
    ...(item === undefined ? {} : { item: decode(item) }),
  }
}

/** Decodes a part of the address. A part that was damaged, for example by typing, stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function formatRoute({ cluster, page, item }: Route): string {
  if (cluster === undefined) return '#/'
  const parts = page === 'overview' ? [cluster] : [cluster, page, ...(item === undefined ? [] : [item])]
  return `#/${parts.map(encodeURIComponent).join('/')}`
}
