import { signal } from '@preact/signals'
import { h, render } from 'preact'
import { App } from './app.ts'
import { handleKey } from './keys.ts'
import { parseRoute, viewsByPage } from './route.ts'
import { createStore } from './store.ts'

/** Views that are read again while the page is visible. Others cost hosts more, so the operator requests them. */
const repeated = new Set(['status', 'etcd'])
const repeatMs = 30_000

function start(root: HTMLElement): void {
  const store = createStore(async (path) => fetch(path))
  const route = signal(parseRoute(location.hash))
  const overview = store.view('overview')

  const read = (only: (view: string) => boolean): void => {
    const { cluster, page } = route.value
    if (cluster === undefined) {
      if (only('fleet')) void store.read('fleet')
      return
    }
    for (const view of viewsByPage[page]) if (only(view)) void store.read(view, cluster)
  }
  const readMissing = (): void =>
    read((view) => {
      const { cluster } = route.value
      return cluster === undefined
        ? store.view('fleet').value.result === undefined
        : viewsByPage[route.value.page].some(
            (one) => one === view && store.view(one, cluster).value.result === undefined,
          )
    })
  const refresh = (): void => read(() => true)

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
    if (!document.hidden) read((view) => repeated.has(view))
  }, repeatMs)
  render(h(App, { store, route, refresh }), root)
  void store.read('overview').then(follow)
}

const root = document.getElementById('app')
if (root !== null) start(root)
