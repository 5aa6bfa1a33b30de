import type { RenderedChart } from '../addons/chart/read-chart.ts'
import type { Lock, LockedChart } from '../catalog/lock.ts'
import type { HttpRoute } from '../kit/http-route.ts'
import type { ChartSettings } from '../spec/chart.ts'
import type { Cluster } from '../spec/cluster.ts'

/** Reads and renders Helm charts on the operator's machine. */
export interface ChartRenderer {
  /** Returns the digest of a chart directory or archive. Throws CHART_NOT_READ if it cannot be read. */
  readonly computeDigest: (path: string, signal: AbortSignal) => Promise<string>
  /** Renders a chart twice with the pinned Helm. Throws if the chart is not the pinned one. */
  readonly render: (request: ChartRequest, signal: AbortSignal) => Promise<RenderedChart>
}

export interface ChartRequest {
  /** Path of cluster.yml. Other paths are relative to it. */
  readonly clusterFile: string
  /** Returns the way to download sites: proxy, logins and CAs of cluster.yml. */
  readonly openRoute: () => Promise<HttpRoute>
  readonly cluster: Cluster
  /** Lock that pins Helm. */
  readonly lock: Lock
  readonly addon: string
  readonly chart: ChartSettings
  readonly pin: LockedChart
  /** Values in JSON, which override those of the chart and of its files. They may contain secrets. */
  readonly values: string
  /** Removes secret values from a text that is shown. */
  readonly redact: (text: string) => string
}
