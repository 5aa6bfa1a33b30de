import { followsHosts } from '../../addons/coredns/corefile.ts'
import { wishedAddons, type WishedAddon } from '../../addons/desired-addons.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import { addonsOf } from '../../lifecycle/addons/propose-addons.ts'
import { factsOf } from '../../lifecycle/build-proposal.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { requireLock } from '../load-lock.ts'
import { loadWish } from '../load-inputs.ts'
import { readAddonSources } from '../plan/addon-sources.ts'
import { reportedRun } from '../run-with-progress.ts'
import { runFlags } from '../run-flags.ts'
import { reach } from '../up/connect.ts'

type Options = Invocation['options']

export interface WishedToShow {
  readonly code: ExitCode
  readonly addons: readonly WishedAddon[]
  readonly findings: readonly Finding[]
}

/**
 * What addons shall be made of, all or those of some names. It takes neither the API nor the cluster's identity, and hosts
 * alone where it depends on them.
 */
export async function wishedToShow(
  context: Context,
  options: Options,
  cluster: Cluster,
  names: readonly string[],
): Promise<WishedToShow> {
  const isShown = (name: string): boolean => names.length === 0 || names.includes(name)
  const lock = await requireLock(context, options.file)
  const sources = await readAddonSources(context, options.file, cluster)
  const asked =
    isShown('coredns') && followsHosts(cluster) ? await factsOfHosts(context, options, cluster) : noFacts
  const wish = addonsOf({ cluster, lock, sources }, asked.facts)
  const { addons, findings } = wishedAddons({ ...wish, metricsCertificate: undefined })
  return { code: asked.code, addons: addons.filter(({ name }) => isShown(name)), findings }
}

interface Asked {
  readonly code: ExitCode
  readonly facts: ReadonlyMap<string, Facts>
}

const noFacts: Asked = { code: exitCodes.ok, facts: new Map() }

async function factsOfHosts(context: Context, options: Options, cluster: Cluster): Promise<Asked> {
  const wish = await loadWish(context, options, cluster)
  const settings = {
    command: 'addon',
    cluster: cluster.metadata.name,
    progress: runFlags.parse(options).progress,
    debug: options.debug === true,
  }
  let facts = noFacts.facts
  const { code } = await reportedRun(context, settings, async (run) => {
    await using reached = await reach(context, options, wish, run, context.signal)
    facts = await factsOf(reached.crew.sessions)
    return { code: exitCodes.ok, result: { outcome: 'unchanged' } }
  })
  return { code, facts }
}
