import { findExposedSecrets, redactSecrets } from '../addons/chart/exposed-secrets.ts'
import { type RenderedChart, readChart } from '../addons/chart/read-chart.ts'
import type { Lock, LockedChart } from '../catalog/lock.ts'
import type { Identity } from '../identity/identity.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { truncateList } from '../kit/text.ts'
import type { ChartSettings } from '../spec/chart.ts'
import type { Cluster } from '../spec/cluster.ts'
import { mergeChartValues } from './chart-values.ts'
import { type ClusterWebContext, openClusterWeb } from './cluster-web.ts'
import type { ClusterFiles, WorkspaceContext } from './context.ts'
import { openIdentity } from './load-identity.ts'
import { type ChartAddon, listCharts } from './pin-charts.ts'

type ChartDeps = ClusterWebContext & Pick<WorkspaceContext, 'charts' | 'signal'>

export interface RenderChartsOptions {
  readonly files: ClusterFiles
  readonly cluster: Cluster
  readonly lock: Lock
}

/**
 * Renders the charts of all enabled addons. The result has the manifests by the name of the addon, with
 * secret values. `loadSecrets` is called only if a chart has secret values. By default it opens the identity.
 */
export async function renderCharts(
  deps: ChartDeps,
  options: RenderChartsOptions,
  loadSecrets = async (): Promise<Identity['secrets']> =>
    (await openIdentity(deps, options.files, options.cluster.metadata.name)).secrets,
): Promise<ReadonlyMap<string, RenderedChart>> {
  const charts = listCharts(options.cluster)
  const needsSecrets = charts.some(({ chart }) => Object.keys(chart.secretValues).length > 0)
  const secrets = needsSecrets ? await loadSecrets() : {}
  const rendered = new Map<string, RenderedChart>()
  for (const one of charts) rendered.set(one.addon, await renderChart(deps, options, one, secrets))
  return rendered
}

async function renderChart(
  deps: ChartDeps,
  { files, cluster, lock }: RenderChartsOptions,
  { addon, chart }: ChartAddon,
  secrets: Identity['secrets'],
): Promise<RenderedChart> {
  const pin = requirePin(lock, addon, chart)
  const selected = selectSecrets(addon, chart, secrets)
  const texts = [...selected.values()].map((secret) => secret.revealText())
  const request = {
    clusterFile: files.file,
    openRoute: async () => (await openClusterWeb(deps, files, cluster)).route,
    cluster,
    lock,
    addon,
    chart,
    pin,
    values: JSON.stringify(mergeChartValues(chart, selected)),
    redact: (text: string) => redactSecrets(text, texts),
  }
  const rendered = await deps.charts.render(request, deps.signal)
  const { manifests } = readChart(rendered, { addon, chart, path: '' })
  const exposed = findExposedSecrets(manifests, texts)
  if (exposed.length === 0) return rendered
  throw new HyperkubeError(
    'CHART_SECRET_EXPOSED',
    `addon ${addon}: the chart writes a secret value outside of a Secret, in ${truncateList(exposed, 10)}`,
    { hint: 'use a value of the chart that names an existing Secret, or an ordinary value' },
  )
}

/** Returns the pin of a chart. Throws if the lock lacks it or has another version or URL. */
function requirePin({ charts = {} }: Lock, addon: string, { version, archive }: ChartSettings): LockedChart {
  const pin = Object.hasOwn(charts, addon) ? charts[addon] : undefined
  const isSame = pin?.version === version && pin.url === archive?.url
  if (pin !== undefined && isSame && (archive === undefined || pin.sha256 === archive.sha256)) return pin
  throw new HyperkubeError('CHART_NOT_LOCKED', `the lock does not pin the chart of addon ${addon}`, {
    hint: 'hyperkube lock',
  })
}

/** Returns the secrets of a chart by the path of their value. Throws if one is missing in the identity. */
function selectSecrets(
  addon: string,
  { secretValues }: ChartSettings,
  secrets: Identity['secrets'],
): ReadonlyMap<string, Identity['secrets'][string]> {
  return new Map(
    Object.entries(secretValues).map(([path, { secret: name }]) => {
      const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined
      if (secret !== undefined) return [path, secret]
      throw new HyperkubeError(
        'CHART_SECRET_MISSING',
        `addon ${addon}: cluster.identity has no secret ${name}, the value of ${path}`,
        { hint: `hyperkube secret set ${name}` },
      )
    }),
  )
}
