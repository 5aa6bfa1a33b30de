import { type Signal, signal } from '@preact/signals'
import type { AppliedPlan, ViewDocuments, ViewName, ViewResult } from '../views.ts'

/** What is known of a view: the last result, and whether a newer one is being read. */
export interface ViewState<T> {
  readonly result: ViewResult<T> | undefined
  /** Earlier results, the oldest first. Only views that are shown over time have them. */
  readonly earlier: readonly ViewResult<T>[]
  readonly isReading: boolean
  /** Why the interface itself did not respond; undefined if it responded. */
  readonly connection: string | undefined
}

/** Applies a plan that was shown. `confirm` is what the operator typed. */
export type ApplyPlan = (cluster: string, digest: string, confirm: string) => Promise<ViewResult<AppliedPlan>>

/** Views by name, cluster and parameters. Each has a signal, so that only the view that changes is rendered again. */
export interface Store {
  readonly view: <N extends ViewName>(
    name: N,
    cluster?: string,
    query?: string,
  ) => Signal<ViewState<ViewDocuments[N]>>
  /** Reads a view from the server, also if it is known. */
  readonly read: (name: ViewName, cluster?: string, query?: string) => Promise<void>
  readonly apply: ApplyPlan
}

const shownOverTime: ReadonlySet<ViewName> = new Set(['etcd'])
/** Two hours of reads every 30 seconds. */
const maxEarlier = 240

type Signals = { readonly [N in ViewName]: Map<string, Signal<ViewState<ViewDocuments[N]>>> }

export function createStore(fetchPath: (path: string, body?: string) => Promise<Response>): Store {
  const signals: Signals = {
    overview: new Map(),
    fleet: new Map(),
    status: new Map(),
    doctor: new Map(),
    plan: new Map(),
    etcd: new Map(),
    certificates: new Map(),
    runs: new Map(),
    run: new Map(),
    logs: new Map(),
  }
  const view: Store['view'] = (name, cluster = '', query = '') => {
    const known = signals[name]
    const key = `${cluster}?${query}`
    const found =
      known.get(key) ??
      signal<ViewState<ViewDocuments[typeof name]>>({
        ...{ result: undefined, earlier: [], isReading: false, connection: undefined },
      })
    known.set(key, found)
    return found
  }
  const read: Store['read'] = async (name, cluster, query = '') => {
    const target = view(name, cluster, query)
    if (target.value.isReading) return
    target.value = { ...target.value, isReading: true }
    try {
      const response = await fetchPath(buildPath(name, cluster, query))
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
      const result: ViewResult<ViewDocuments[ViewName]> = await response.json()
      // The browser keeps all marks and measures, so the previous ones are removed.
      performance.clearMarks('view-read')
      performance.mark('view-read')
      const { earlier, result: last } = target.value
      target.value = {
        result,
        earlier: last === undefined || !shownOverTime.has(name) ? [] : [...earlier, last].slice(-maxEarlier),
        isReading: false,
        connection: undefined,
      }
      // Measures until the browser has shown the view.
      requestAnimationFrame(() =>
        setTimeout(() => {
          performance.clearMeasures('view-shown')
          performance.measure('view-shown', 'view-read')
        }),
      )
    } catch (error) {
      const connection = error instanceof Error ? error.message : String(error)
      target.value = { ...target.value, isReading: false, connection }
    }
  }
  const apply: ApplyPlan = async (cluster, digest, confirm) => {
    try {
      const response = await fetchPath(buildPath('up', cluster, ''), JSON.stringify({ digest, confirm }))
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
      return await response.json()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { state: 'failed', failure: { code: 'no connection', message }, at: '' }
    }
  }
  return { view, read, apply }
}

function buildPath(name: ViewName | 'up', cluster: string | undefined, query: string): string {
  if (cluster === undefined) return `api/${name}`
  return `api/clusters/${encodeURIComponent(cluster)}/${name}${query === '' ? '' : `?${query}`}`
}
