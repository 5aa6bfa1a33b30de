import { describe } from '../kit/errors.ts'
import { Metrics } from '../kit/metrics.ts'
import type { Time } from '../kit/monotonic-clock.ts'
import { KubeClient, type KubeClientOptions } from '../kube/client.ts'
import { type Ending, lead } from '../kube/election.ts'
import { type Holding, LeaseLock } from '../kube/lease-lock.ts'
import { kubeLeaseStore } from '../kube/lease-store.ts'
import { Complaints } from './log-limiter.ts'
import type { CompletedConfig } from './completed-config.ts'
import { openFront } from './health-server.ts'
import type { Check, Checks } from './health-checks.ts'
import { Office } from './leader-session.ts'
import { processMetrics } from './process-metrics.ts'
import { managerLease } from './rbac.ts'

export interface ManagerWorld {
  readonly time: Time
  /** What clocks on walls say: only for others to read. */
  readonly now: () => Date
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (line: string) => void
  /** Is told where health and figures are told. */
  readonly onListening?: (port: number) => void
}

/** Waits for its turn, leads, and comes down cleanly with the signal. After anything but `stopped` the process must end. */
export async function runManager(
  { config, access, identity, settings }: CompletedConfig,
  world: ManagerWorld,
  signal: AbortSignal,
): Promise<Ending> {
  const { time, random, log } = world
  const { election: timing } = config
  const metrics = new Metrics()
  processMetrics(metrics)
  const complaints = new Complaints(time, log)
  const office = new Office({
    ...{ rows: config.chosen, instance: identity, metrics, time, random, grace: timing.grace, log },
    complaints,
    settings,
    now: world.now,
    clientAs: (as, guard, until) => clientOf({ ...access, as, guard, signal: until }),
  })
  const ballot = new Ballot(time, timing.duration)
  const healths: Readonly<Record<string, () => Checks>> = {
    livez: () => ping,
    readyz: () => new Map([['leader-election', ballot.check], ...office.informers]),
    healthz: () => new Map([...ping, ...office.controllers]),
  }
  await using front = await openFront(config.listen, {
    checks: (path) => (Object.hasOwn(healths, path) ? healths[path]?.() : undefined),
    metrics: () => metrics.text(),
  })
  world.onListening?.(front.port)
  // A connection that hangs must be given up in time for another one.
  const [patience, timeout] = [timing.deadline / 4, timing.deadline / 2]
  using client = clientOf({
    ...access,
    timing: { connect: patience, answer: patience },
    signal: new AbortController().signal,
  })
  const store = kubeLeaseStore(client, managerLease, timeout)
  const lock = new LeaseLock(store, { identity, duration: timing.duration }, () => ({
    wall: world.now(),
    monotonic: time.now(),
  }))
  metrics.gauges('leader_election_master_status', 'Whether this one leads.', () => [
    [{ name: managerLease.name }, ballot.leads ? 1 : 0],
  ])
  const ending = await lead(
    {
      async tryHold(until) {
        const holding = await lock.tryHold(until)
        complaints.forget(election)
        return ballot.seen(holding)
      },
      raise: (number) => lock.raise(number),
      release: async (until) => lock.release(until),
    },
    {
      timing,
      time,
      random,
      onLeader: (holder) => log(holder === identity ? 'was elected' : `${holder} leads`),
      onTrouble: (error) => complaints.say(election, error),
    },
    async (term) => {
      term.lost.addEventListener('abort', () => log(`LEADERSHIP_LOST: ${describe(term.lost.reason)}`))
      await office.run(term)
    },
    signal,
  )
  const late = office.working
  if (late.length > 0) log(`did not stop in time: ${late.join(', ')}`)
  return ending
}

function clientOf(options: KubeClientOptions): KubeClient {
  return new KubeClient(options)
}

const election = 'leader election'

const ping: Checks = new Map([['ping', () => undefined]])

/** What came of the election so far. */
class Ballot {
  leads = false
  readonly #time: Time
  readonly #patience: number
  #seen: number | undefined

  constructor(time: Time, patience: number) {
    this.#time = time
    this.#patience = patience
  }

  seen(holding: Holding): Holding {
    this.#seen = this.#time.now()
    this.leads = holding.held
    return holding
  }

  readonly check: Check = () => {
    if (this.#seen === undefined) return 'the lease was not seen yet'
    const age = this.#time.now() - this.#seen
    return age < this.#patience ? undefined : `the lease was not seen for ${Math.round(age / 1000)} s`
  }
}
