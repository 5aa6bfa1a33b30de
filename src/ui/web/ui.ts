import { signal } from '@preact/signals'
import { h, render } from 'preact'
import { App } from './app.ts'
import { handleKey } from './keys.ts'
import { isLive } from './run-page.ts'
import { listViews, parseRoute } from './route.ts'
import { createStore } from './store.ts'
import type { ViewName } from '../views.ts'

/** Views that are read again while the page is visible. Others cost hosts more, so the operator requests them. */
const repeated = new Set(['status', 'etcd'])
const repeatMs = 30_000
/** How often the page of a run reads its events again, until the run has ended. */
const runRepeatMs = 2000

function start(root: HTMLElement): void {
  const store = createStore(async (path, body) =>
    fetch(path, body === undefined ? {} : { method: 'POST', body }),
  )
  const route = signal(parseRoute(location.hash))
  const overview = store.view('overview')

  const listShown = (): readonly { name: ViewName; cluster?: string; query?: string }[] => {
    const { cluster } = route.value
    if (cluster === undefined) return [{ name: 'fleet' }]
    return listViews(route.value).map((one) => ({ ...one, cluster }))
  }
  const readMissing = (): void => {
    for (const { name, cluster, query } of listShown())
      if (store.view(name, cluster, query).value.result === undefined) void store.read(name, cluster, query)
  }
  const refresh = (): void => {
    for (const { name, cluster, query } of listShown()) void store.read(name, cluster, query)
  }

  /** Without a fleet, the only cluster is the start page. */
  const follow = (): void => {
    const next = parseRoute(location.hash)
    const { result } = overview.value
    const shown = result?.state === 'read' ? result.document : undefined
    const [first] = shown?.clusters ?? []
    route.value =
      next.cluster === undefined && shown !== undefined && shown.fleet === undefined && first !== undefined
        ? { cluster: first.name, page: 'overview' }
        : next
    document.title = `${route.value.cluster ?? shown?.fleet ?? 'clusters'} - hyperkube`
    if (shown !== undefined) readMissing()
  }

  addEventListener('hashchange', follow)
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return
    if (handleKey(event.key, route.value, refresh)) event.preventDefault()
  })
  setInterval(() => {
    if (document.hidden) return
    for (const { name, cluster, query } of listShown())
      if (repeated.has(name)) void store.read(name, cluster, query)
  }, repeatMs)
  setInterval(() => {
    if (document.hidden) return
    for (const { name, cluster, query } of listShown())
      if (name === 'run' && isLive(store.view(name, cluster, query).value))
        void store.read(name, cluster, query)
  }, runRepeatMs)
  render(h(App, { store, route, refresh }), root)
  void store.read('overview').then(follow)
}

const root = document.getElementById('app')
if (root !== null) start(root)
