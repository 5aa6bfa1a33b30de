import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { Overview } from '../views.ts'
import { CertificatesPage } from './certificates-page.ts'
import { ClusterPage } from './cluster-page.ts'
import { EtcdPage } from './etcd-page.ts'
import { FleetPage } from './fleet-page.ts'
import { formatTime, showView } from './parts.ts'
import { PlanPage } from './plan-page.ts'
import { LogsPage } from './logs-page.ts'
import { buildRunQuery, formatRoute, listViews, type PageName, pages, type Route } from './route.ts'
import { RunPage } from './run-page.ts'
import { RunsPage } from './runs-page.ts'
import type { Store } from './store.ts'

export interface AppProps {
  readonly store: Store
  readonly route: Signal<Route>
  readonly refresh: () => void
}

/** The whole interface: header, tabs of a cluster, and one page. */
export function App({ store, route, refresh }: AppProps): ComponentChild {
  return h(
    'div',
    null,
    h('a', { class: 'skip', href: '#main', onClick: focusMain }, 'Skip to content'),
    showView(store.view('overview').value, 'reading cluster.yml', (overview) => [
      h(Header, { overview, route, refresh, store }),
      h('main', { id: 'main', tabIndex: -1 }, h(Page, { overview, route, store })),
      h(
        'footer',
        { class: 'dim small' },
        `hyperkube ${overview.version}; ${overview.allowsChanges === true ? 'plans can be applied' : 'read-only'}. Keys: `,
        h('kbd', null, '/'),
        ' filter, ',
        h('kbd', null, 'j'),
        ' ',
        h('kbd', null, 'k'),
        ' next and previous cluster, ',
        h('kbd', null, '1'),
        '…',
        h('kbd', null, String(pages.length)),
        ' tabs, ',
        h('kbd', null, 'f'),
        ' fleet, ',
        h('kbd', null, 'r'),
        ' refresh',
      ),
    ]),
  )
}

function focusMain(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

interface PartProps {
  readonly overview: Overview
  readonly route: Signal<Route>
  readonly store: Store
}

function Header({ overview, route, refresh, store }: PartProps & Pick<AppProps, 'refresh'>): ComponentChild {
  const { cluster, page } = route.value
  const views =
    cluster === undefined
      ? [store.view('fleet')]
      : listViews(route.value).map(({ name, query }) => store.view(name, cluster, query))
  const isReading = views.some((view) => view.value.isReading)
  const at = views[0]?.value.result?.at
  return h(
    'header',
    null,
    h(
      'div',
      { class: 'title' },
      overview.fleet === undefined || cluster === undefined
        ? null
        : h('a', { href: formatRoute({ cluster: undefined, page: 'overview' }) }, overview.fleet),
      h('h1', null, cluster ?? overview.fleet ?? 'hyperkube'),
      h(
        'span',
        { class: 'dim small', role: 'status' },
        isReading ? 'reading…' : at === undefined ? '' : `read ${formatTime(at)}`,
      ),
      h('button', { type: 'button', onClick: refresh, disabled: isReading }, 'Refresh'),
    ),
    cluster === undefined
      ? null
      : h(
          'nav',
          { 'aria-label': 'pages of the cluster' },
          pages.map((one) =>
            h(
              'a',
              {
                key: one,
                href: formatRoute({ cluster, page: one }),
                'aria-current': one === page ? 'page' : undefined,
              },
              titles[one],
            ),
          ),
        ),
  )
}

const titles: Readonly<Record<PageName, string>> = {
  overview: 'Overview',
  plan: 'Plan',
  etcd: 'etcd',
  certificates: 'Certificates',
  runs: 'Runs',
  logs: 'Logs',
}

function Page({ overview, route, store }: PartProps): ComponentChild {
  const { cluster, page, item } = route.value
  if (cluster === undefined) return h(FleetPage, { view: store.view('fleet'), overview })
  const file = overview.clusters.find(({ name }) => name === cluster)?.file ?? 'cluster.yml'
  switch (page) {
    case 'overview':
      return h(ClusterPage, { status: store.view('status', cluster), doctor: store.view('doctor', cluster) })
    case 'plan':
      return h(PlanPage, { view: store.view('plan', cluster), file, apply: store.apply })
    case 'etcd':
      return h(EtcdPage, { view: store.view('etcd', cluster) })
    case 'certificates':
      return h(CertificatesPage, { view: store.view('certificates', cluster) })
    case 'logs':
      return h(LogsPage, { view: store.view('logs', cluster, item), cluster, search: item ?? '' })
    default:
      return item === undefined
        ? h(RunsPage, { view: store.view('runs', cluster), cluster })
        : h(RunPage, { view: store.view('run', cluster, buildRunQuery(item)) })
  }
}
