import { HyperkubeError } from '../../src/kit/errors.ts'
import { readDigests, type Versions } from '../cluster/artifacts.ts'
import type { Access, Contender } from '../cluster/contender.ts'
import { assignRoles, type Shape, listHostNames } from '../cluster/shape.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import type { Lab } from '../hosts/lab.ts'
import { type Milestone, measureMilestones, type Times } from './milestones.ts'
import { meterUsage, type Usage } from './usage.ts'

export interface BenchResult {
  readonly times: Times
  readonly usage: Usage
  readonly access: Access
}

export interface BenchOptions {
  readonly contender: Contender
  readonly shape: Shape
  readonly lab: Lab
  readonly mirror: string
  readonly versions: Versions
  /** True to install addons, if the contender supports them. */
  readonly addons?: boolean
  readonly signal?: AbortSignal
  readonly onMilestone?: (milestone: Milestone) => void
}

/**
 * Measures the time and resources that one contender needs to turn empty hosts into a working cluster. The
 * cluster is not removed afterwards.
 */
export async function runBench(options: BenchOptions): Promise<BenchResult> {
  const { contender, shape, lab, mirror, versions } = options
  const hosts = await lab.up(listHostNames(shape))
  for (const host of hosts) await requireFresh(host)
  const clusterHosts = assignRoles(shape, hosts)
  const digests = await readDigests(mirror, machineArch())
  const controller = new AbortController()
  const signal =
    options.signal === undefined ? controller.signal : AbortSignal.any([controller.signal, options.signal])
  const addons = options.addons === true && contender.addons === true
  const context = { clusterHosts, mirror, digests, versions, addons, directory: lab.directory }
  await contender.prepare?.(context)
  const meters = await meterUsage(hosts)
  const started = performance.now()
  const attempt = contender.begin(context, signal)
  try {
    const times = await measureMilestones(
      context,
      attempt,
      started,
      signal,
      options.onMilestone ?? (() => undefined),
    )
    return { times, usage: await meters.stop(), access: await attempt.access }
  } catch (error) {
    // After an abort, this throws the abort reason, because `error` is only its consequence.
    options.signal?.throwIfAborted()
    throw error
  } finally {
    controller.abort()
    await meters.stop().catch(() => undefined)
    await attempt.finished.catch(() => undefined)
  }
}

/**
 * Throws if the host already has a cluster, because the old keys would be mixed with those of the new
 * cluster.
 */
async function requireFresh(host: Host): Promise<void> {
  const { code } = await host.exec(['test', '-e', '/etc/kubernetes'], { allowFailure: true })
  if (code !== 0) return
  throw new HyperkubeError('HOST_NOT_FRESH', 'the host already has a cluster, or the remains of one', {
    host: host.name,
    hint: 'npm run lab -- down',
  })
}
