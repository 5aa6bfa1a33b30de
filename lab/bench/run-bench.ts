import { HyperkubeError } from '../../src/kit/errors.ts'
import { readDigests, type Versions } from '../cluster/artifacts.ts'
import type { Access, Contender } from '../cluster/contender.ts'
import { castOf, type Shape, shapeHosts } from '../cluster/shape.ts'
import { machineArch } from '../components/build.ts'
import type { Host } from '../hosts/host.ts'
import type { Lab } from '../hosts/lab.ts'
import { type Milestone, observe, type Times } from './milestones.ts'
import { meter, type Usage } from './usage.ts'

export interface Trial {
  readonly times: Times
  readonly usage: Usage
  readonly access: Access
}

export interface TrialWish {
  readonly contender: Contender
  readonly shape: Shape
  readonly lab: Lab
  readonly mirror: string
  readonly versions: Versions
  /** Asks for addons, where the contender can be asked for them. */
  readonly addons?: boolean
  readonly signal?: AbortSignal
  readonly onMilestone?: (milestone: Milestone) => void
}

/** One contender, from hosts with nothing on them to a service that answers. The hosts stay as they end up. */
export async function runTrial(wish: TrialWish): Promise<Trial> {
  const { contender, shape, lab, mirror, versions } = wish
  const hosts = await lab.up(shapeHosts(shape))
  for (const host of hosts) await requireFresh(host)
  const cast = castOf(shape, hosts)
  const digests = await readDigests(mirror, machineArch())
  const controller = new AbortController()
  const signal =
    wish.signal === undefined ? controller.signal : AbortSignal.any([controller.signal, wish.signal])
  const addons = wish.addons === true && contender.addons === true
  const ground = { cast, mirror, digests, versions, addons, directory: lab.directory }
  await contender.prepare?.(ground)
  const meters = await meter(hosts)
  const started = performance.now()
  const attempt = contender.begin(ground, signal)
  try {
    const times = await observe(ground, attempt, started, signal, wish.onMilestone ?? (() => undefined))
    return { times, usage: await meters.stop(), access: await attempt.access }
  } catch (error) {
    // Whatever else went wrong after that went wrong because of it.
    wish.signal?.throwIfAborted()
    throw error
  } finally {
    controller.abort()
    await meters.stop().catch(() => undefined)
    await attempt.finished.catch(() => undefined)
  }
}

/** A second cluster over a first would mix the keys of both. */
async function requireFresh(host: Host): Promise<void> {
  const { code } = await host.exec(['test', '-e', '/etc/kubernetes'], { allowFailure: true })
  if (code !== 0) return
  throw new HyperkubeError('HOST_NOT_FRESH', 'there is a cluster on the host, or what is left of one', {
    host: host.name,
    hint: 'npm run lab -- down',
  })
}
