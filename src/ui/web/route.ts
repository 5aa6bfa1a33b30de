import type { ClusterViewName } from '../views.ts'

/** Pages of a cluster, in the order of their tabs. */
export const pages = ['overview', 'plan', 'etcd', 'certificates', 'runs'] as const
export type PageName = (typeof pages)[number]

/** What the address shows. Without a cluster it is the fleet. */
export interface Route {
  readonly cluster: string | undefined
  readonly page: PageName
}

/** Views that each page reads. */
export const viewsByPage: Readonly<Record<PageName, readonly ClusterViewName[]>> = {
  overview: ['status', 'doctor'],
  plan: ['plan'],
  etcd: ['etcd'],
  certificates: ['certificates'],
  runs: ['runs'],
}

export function parseRoute(hash: string): Route {
  const [, cluster, page] = hash.replace(/^#\/?/, '/').split('/')
  if (cluster === undefined || cluster === '') return { cluster: undefined, page: 'overview' }
  return { cluster: decodeURIComponent(cluster), page: pages.find((one) => one === page) ?? 'overview' }
}

export function formatRoute({ cluster, page }: Route): string {
  if (cluster === undefined) return '#/'
  return `#/${encodeURIComponent(cluster)}${page === 'overview' ? '' : `/${page}`}`
}
