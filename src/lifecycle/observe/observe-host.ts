import { describe, HyperkubeError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Place } from '../host-endpoints.ts'
import { type HostServices, hostServices, serviceNames } from '../status/services.ts'
import { type AgentLook, type AgentQuestions, lookAtAgent } from './observe-agent.ts'
import { bounded } from './call-with-timeout.ts'
import { type Ground, lookAtGround } from './observe-disks.ts'
import { type LastLines, lastLines } from './last-log-lines.ts'

/** Why a host was not reached. */
export interface Away {
  readonly code: string
  readonly reason: string
  readonly hint?: string
}

/** One host: by ssh, and as its agent sees it. */
export interface HostLook extends HostServices, Ground {
  readonly place: Place
  /** Undefined when it was reached; otherwise nothing else is known of it. */
  readonly away: Away | undefined
  readonly agent: AgentLook
  /** Of services that are not well. */
  readonly logs: LastLines
}

export interface HostQuestions extends AgentQuestions {
  /** Why what is not well is so: disks, programs and last lines. */
  readonly deep: boolean
}

/** A host that is there lets one in within seconds; one that is not does not answer at all. */
const login = 12_000
/** To look at units and files. */
const glance = 12_000

const nothing: Ground = { disks: [], programs: [] }
const unseen: HostServices = { version: undefined, services: [] }

export async function lookAtHost(
  place: Place,
  connect: () => Promise<Remote>,
  questions: HostQuestions,
): Promise<HostLook> {
  const { deep, signal } = questions
  try {
    const remote = await bounded(login, signal, connect)
    const names = serviceNames(place)
    const units = bounded(glance, signal, async (until) => hostServices(remote, names, until))
    const [agent, [seen], ground] = await Promise.all([
      lookAtAgent(remote, questions),
      Promise.allSettled([units]),
      deep
        ? bounded(glance, signal, async (until) => lookAtGround(remote, names, until)).catch(() => nothing)
        : nothing,
    ])
    // A host of which neither is known is as good as away.
    if (seen.status === 'rejected' && agent.state === 'silent') throw seen.reason
    const services = seen.status === 'fulfilled' ? seen.value : unseen
    const known = { place, away: undefined, agent, ...services, ...ground }
    const logs = deep
      ? await bounded(glance, signal, async (until) => lastLines(remote, unwellServices(known), until)).catch(
          () => new Map<string, readonly string[]>(),
        )
      : new Map<string, readonly string[]>()
    return { ...known, logs }
  } catch (error) {
    signal.throwIfAborted()
    return awayLook(place, awayOf(error))
  }
}

export function awayLook(place: Place, away: Away): HostLook {
  const agent: AgentLook = { state: 'silent', reason: away.reason }
  return { place, away, agent, ...unseen, ...nothing, logs: new Map() }
}

/** Those whose logs may say why. */
function unwellServices({ services, agent }: Pick<HostLook, 'services' | 'agent'>): string[] {
  const stopped = services.flatMap(({ name, state }) =>
    state === 'active' || state === 'missing' ? [] : [name],
  )
  if (agent.state === 'silent') return [...new Set(['hyperkube-agent', ...stopped])]
  const failing = (agent.health?.probes ?? []).flatMap(({ component, scope, state }) =>
    scope === 'local' && (state === 'failing' || state === 'shaky') ? [component] : [],
  )
  return [...new Set([...stopped, ...failing])]
}

function awayOf(error: unknown): Away {
  if (!(error instanceof HyperkubeError)) return { code: 'HOST_AWAY', reason: describe(error) }
  const { code, message, hint } = error
  // That it was too slow, or is gone by now, is the same to whoever asks.
  const isSilent = code === 'SSH_UNREACHABLE' || code === 'SSH_LOST' || code === 'TIMED_OUT'
  return {
    code: isSilent ? 'HOST_AWAY' : code,
    reason: error.cause === undefined ? message : `${message}: ${describe(error.cause)}`,
    ...(hint === undefined || isSilent ? {} : { hint }),
  }
}
