import { dirname, join } from 'node:path'
import { type BundleManifest, chartPath } from '../bundle/manifest.ts'
import type { Lock, LockedChart } from '../catalog/lock.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { ChartSettings } from '../spec/chart.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from './context.ts'

type ChartDeps = Pick<WorkspaceContext, 'charts' | 'signal'>

/** An enabled addon that is a Helm chart. */
export interface ChartAddon {
  readonly addon: string
  readonly chart: ChartSettings
}

/** Lists the enabled addons that are Helm charts. */
export function listCharts({ spec }: Cluster): readonly ChartAddon[] {
  return spec.addons.flatMap(({ name, enabled, chart }) =>
    enabled && chart !== undefined ? [{ addon: name, chart }] : [],
  )
}

/** Returns the pins of all charts for the lock. Undefined if the cluster has no chart. */
export async function pinCharts(
  { charts, signal }: ChartDeps,
  clusterFile: string,
  cluster: Cluster,
): Promise<Lock['charts']> {
  const pins: Record<string, LockedChart> = {}
  for (const { addon, chart } of listCharts(cluster)) {
    const { path = '', archive, version } = chart
    const source = archive ?? { sha256: await charts.computeDigest(join(dirname(clusterFile), path), signal) }
    pins[addon] = { version, ...source }
  }
  return Object.keys(pins).length === 0 ? undefined : pins
}

/** Describes the first chart whose version, URL or digest differs from its pin in the lock. */
export function findUnpinnedChart(lock: Lock, wanted: NonNullable<Lock['charts']>): string | undefined {
  const different = Object.entries(wanted).find(([addon, { version, url, sha256 }]) => {
    const pin = lock.charts?.[addon]
    return pin?.version !== version || pin.url !== url || pin.sha256 !== sha256
  })
  return different === undefined
    ? undefined
    : `the lock has another chart, or none, for addon ${different[0]}`
}

/** Throws if the bundle lacks a chart that cluster.yml has with a URL. */
export function checkBundledCharts({ members }: BundleManifest, cluster: Cluster): void {
  const paths = new Set(members.map(({ path }) => path))
  const missing = listCharts(cluster).filter(
    ({ chart: { archive } }) => archive !== undefined && !paths.has(chartPath(archive)),
  )
  if (missing.length === 0) return
  throw new HyperkubeError(
    'BUNDLE_INCOMPLETE',
    missing.map(({ addon }) => `the bundle has no chart for addon ${addon}`).join('\n'),
    {
      hint: 'create the bundle again on a machine with internet access: hyperkube lock, then hyperkube bundle create',
    },
  )
}
