import { readDigests, type Versions } from '../bare/artifacts.ts'
import { castOf, type Shape, shapeHosts } from '../bare/shape.ts'
import { machineArch } from '../engine/build.ts'
import type { Lab } from '../hosts/lab.ts'
import type { Access, Contender } from './contender.ts'
import { observe, type Times } from './milestones.ts'
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
}

/** One contender, from hosts with nothing on them to a service that answers. The hosts stay as they end up. */
export async function runTrial({ contender, shape, lab, mirror, versions }: TrialWish): Promise<Trial> {
  const hosts = await lab.up(shapeHosts(shape))
  const cast = castOf(shape, hosts)
  const digests = await readDigests(mirror, machineArch())
  const controller = new AbortController()
  const meters = await meter(hosts)
  const started = performance.now()
  const attempt = contender.begin({ cast, mirror, digests, versions }, controller.signal)
  try {
    const times = await observe({ cast }, attempt, started, controller.signal)
    return { times, usage: await meters.stop(), access: await attempt.access }
  } catch (error) {
    await meters.stop()
    throw error
  } finally {
    controller.abort()
    await attempt.finished.catch(() => undefined)
  }
}
