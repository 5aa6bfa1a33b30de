import { refuseUnknownHostKeys } from '../../actions/phases/accept-host-keys.ts'
import { connectCluster } from '../../actions/phases/connect.ts'
import { hasHostDependentDns } from '../../addons/built-in/coredns.ts'
import { type DesiredAddon, listDesiredAddons } from '../../addons/desired-addons.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import { buildAddonInput } from '../../lifecycle/addons/propose-addons.ts'
import { readHostFacts } from '../../lifecycle/proposal/read-hosts.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { readAddonSources } from '../../workspace/addon-sources.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import { requireLock } from '../../workspace/load-lock.ts'
import { renderCharts } from '../../workspace/render-charts.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { runFlags } from '../command/run-flags.ts'
import { readDisplayFlags, runWithProgress } from '../run/run-with-progress.ts'

type Options = Invocation['options']

export interface DesiredAddonsResult {
  readonly code: ExitCode
  readonly addons: readonly DesiredAddon[]
  readonly findings: readonly Finding[]
}

/**
 * Loads the manifests of the named addons, or of all addons. Does not need the API. Needs the identity
 * only for charts with secret values, and connects to hosts only if manifests depend on facts of hosts.
 */
export async function loadDesiredAddons(
  context: CommandContext,
  options: Options,
  cluster: Cluster,
  names: readonly string[],
): Promise<DesiredAddonsResult> {
  const isShown = (name: string): boolean => names.length === 0 || names.includes(name)
  const lock = await requireLock(context, options.file)
  const sources = await readAddonSources(context, options, cluster)
  const charts = await renderCharts(context, { files: options, cluster, lock })
  const hostFacts =
    isShown('coredns') && hasHostDependentDns(cluster)
      ? await readFactsFromHosts(context, options, cluster)
      : emptyFacts
  const catalog = await loadCatalog(context, options.file)
  const inputs = buildAddonInput({ cluster, catalog, lock, sources, charts }, hostFacts.facts)
  const { addons, findings } = listDesiredAddons({ ...inputs, metricsCertificate: undefined })
  return { code: hostFacts.code, addons: addons.filter(({ name }) => isShown(name)), findings }
}

interface HostFactsResult {
  readonly code: ExitCode
  readonly facts: ReadonlyMap<string, Facts>
}

const emptyFacts: HostFactsResult = { code: exitCodes.ok, facts: new Map() }

async function readFactsFromHosts(
  context: CommandContext,
  options: Options,
  cluster: Cluster,
): Promise<HostFactsResult> {
  const inputs = await loadClusterInputs(context, options, cluster, { beforeCommit: true })
  const { progress, forgetHostKey: forgetHostKeys } = runFlags.parse(options)
  const settings = {
    command: 'addon',
    cluster: cluster.metadata.name,
    progress,
    ...readDisplayFlags(options),
  }
  let facts = emptyFacts.facts
  const { code } = await runWithProgress(context, settings, async (run) => {
    await using connected = await connectCluster(
      context,
      inputs,
      { files: options, forgetHostKeys },
      refuseUnknownHostKeys(run),
    )
    facts = await readHostFacts(connected.connected.sessions)
    return { code: exitCodes.ok, result: { outcome: 'unchanged' } }
  })
  return { code, facts }
}
