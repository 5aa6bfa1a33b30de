import { catalogFor } from '../catalog/catalog.ts'
import type { Lock } from '../catalog/lock.ts'
import type { Arch } from '../catalog/target.ts'
import type { Facts } from '../contract/facts.ts'
import { type Finding, hasErrors } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Identity } from '../identity/identity.ts'
import { publicIdentity } from '../identity/public.ts'
import { type RegistryLogin, secretFiles } from '../identity/secret-files.ts'
import { settleAll } from '../kit/settle.ts'
import type { Secret } from '../pki/secret.ts'
import { planCluster, type Planned } from '../plan/plan.ts'
import { rollout } from '../rollout/rollout.ts'
import type { Step } from '../rollout/step.ts'
import type { Cluster } from '../spec/cluster.ts'
import { liveOf } from './live.ts'
import type { Observer } from './observer.ts'
import type { Session } from './session.ts'

/** What the operator's side knows of a cluster. */
export interface Wish {
  readonly cluster: Cluster
  readonly lock: Lock
  readonly identity: Identity
  readonly attachments: ReadonlyMap<string, string>
  /** Of hyperkube itself, as hosts get it. */
  readonly version: (arch: Arch) => string
}

/** What would be done, on which hosts and in which order. */
export interface Proposal {
  readonly findings: readonly Finding[]
  readonly plans: readonly NodePlan[]
  readonly ops: ReadonlyMap<string, readonly Op[]>
  readonly steps: readonly Step[]
}

export function logins({ spec }: Cluster): RegistryLogin[] {
  return spec.registries.flatMap(({ host, username, password }) =>
    password === undefined ? [] : [{ host, username: username ?? '', password: password.secret }],
  )
}

export function secretsOf({ identity, cluster }: Wish): ReadonlyMap<string, Secret> {
  return secretFiles(identity, logins(cluster))
}

export function planFrom(wish: Wish, facts: ReadonlyMap<string, Facts>): Planned {
  const { cluster, lock, identity, attachments, version } = wish
  return planCluster({
    cluster,
    release: catalogFor(cluster.spec.kubernetes),
    lock,
    identity: publicIdentity(identity, secretsOf(wish)),
    facts,
    attachments,
    version,
  })
}

export interface SurveyOptions {
  /** Codes of findings that somebody has seen, and wants to go on in spite of. */
  readonly ignored: readonly string[]
  /** Only these hosts are to be changed. All are looked at: a change of one may be a matter of all. */
  readonly limit?: ReadonlySet<string> | undefined
}

/** Asks every host what it is and what it has, and works out what would be done. Nothing is changed by it. */
export async function survey(
  wish: Wish,
  sessions: ReadonlyMap<string, Session>,
  look: (plans: readonly NodePlan[]) => Promise<Observer & Disposable>,
  { ignored, limit }: SurveyOptions,
): Promise<Proposal> {
  const facts = await factsOf(sessions)
  const planned = planFrom(wish, facts)
  const findings = planned.findings.filter(({ code }) => !ignored.includes(code))
  if (hasErrors(findings)) return { findings, plans: [], ops: new Map(), steps: [] }
  const { plans } = planned
  using around = await look(plans)
  const [found, members] = await Promise.all([opsOf(plans, sessions), around.members()])
  const ops = new Map([...found].filter(([host]) => limit?.has(host) ?? true))
  const { cluster } = wish
  const rolled = rollout({
    plans,
    ops,
    live: liveOf(plans, found, members),
    unreachable: cluster.spec.hosts.map(({ name }) => name).filter((name) => !sessions.has(name)),
    maxUnavailable: cluster.spec.rollout.maxUnavailable,
    kubeletBefore: new Map(),
  })
  const all = [...findings, ...rolled.findings.filter(({ code }) => !ignored.includes(code))]
  return { findings: all, plans, ops, steps: hasErrors(all) ? [] : rolled.steps }
}

async function factsOf(sessions: ReadonlyMap<string, Session>): Promise<ReadonlyMap<string, Facts>> {
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const { facts } = await session.ask({ type: 'facts', host }, 'facts')
      return [host, facts] as const
    }),
  )
  return new Map(all)
}

async function opsOf(
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
): Promise<ReadonlyMap<string, readonly Op[]>> {
  const all = await settleAll(
    plans.flatMap((plan) => {
      const session = sessions.get(plan.host)
      if (session === undefined) return []
      return [(async () => [plan.host, (await session.ask({ type: 'diff', plan }, 'diff')).ops] as const)()]
    }),
  )
  return new Map(all)
}
