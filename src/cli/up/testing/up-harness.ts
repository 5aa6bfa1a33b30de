import type { EtcdRestore } from '../../../contract/etcd-restore.ts'
import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { AgentRequest, AgentResponse } from '../../../contract/request.ts'
import type { HostTrial } from '../../../contract/provisional-change.ts'
import { createIdentity } from '../../../identity/identity.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { type Script, scriptedSession } from '../../../lifecycle/testing/scripted-agent.ts'
import { eventStream } from '../../../lifecycle/event-stream.ts'
import { noAddons } from '../../../lifecycle/addons/proposal.ts'
import type { Wish } from '../../../lifecycle/build-proposal.ts'
import type { TrialWish } from '../../../lifecycle/auto-rollback/plan-provisional.ts'
import { easyInterior } from '../../../lifecycle/testing/fake-cluster-writer.ts'
import { clusterWith, lockFor, planInput } from '../../../plan/testing/fixtures.ts'
import type { Cluster } from '../../../spec/cluster.ts'
import { inMemory, type World } from '../../testing/run-in-memory.ts'
import { type AgreedPlan, bringUp, type UpVerdict } from '../propose-and-execute.ts'

export const cluster = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
  '{ name: w2, address: 10.0.0.3, roles: [worker] }',
)
/** Three control planes, each with a member of etcd. */
export const three = clusterWith(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane, worker] }',
  '{ name: cp3, address: 10.0.0.3, roles: [control-plane, worker] }',
)
export const op: Op = {
  component: 'containerd',
  stage: 'prepare',
  action: 'create',
  target: 'file',
  name: '/etc/hyperkube/containerd/config.toml',
  because: [],
}
const works: Script = async function* () {
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

/** A cluster that lives, and is well. */
const well = async (): Promise<undefined> => undefined
const around = {
  remembered: async () => [],
  etcdIds: async () => new Map<string, string>(),
  etcdWell: well,
  apiReady: well,
  controllersReady: well,
  nodesReady: well,
  isVoter: well,
  drainFindings: async () => [],
  removedApis: async () => [],
  inside: async () => ({ nodes: [], versions: [], objects: [], trials: [], addons: noAddons }),
  ...easyInterior,
  [Symbol.dispose]: () => undefined,
}

export interface UpTestScene {
  readonly of?: Cluster
  /** Addresses of those who vote in etcd. */
  readonly voters?: readonly string[]
  readonly ops?: readonly Op[]
  readonly script?: Script
  readonly missing?: readonly string[]
  /** Why they are. */
  readonly code?: string
  readonly restores?: ReadonlyMap<string, EtcdRestore>
  readonly trials?: ReadonlyMap<string, HostTrial>
  readonly ignore?: readonly string[]
  readonly world?: World
  readonly yes?: true
  readonly plan?: AgreedPlan
  readonly dryRun?: boolean
  readonly trial?: TrialWish
  /** What the agent of a host answers instead of the usual. */
  readonly answer?: (ask: AgentRequest['ask'], host: string) => AgentResponse['answer'] | undefined
  /** The last of all that is done. */
  readonly settleNodes?: () => Promise<void>
}

export interface UpTest {
  readonly wish: Wish
  /** Answers with what was said, told and asked. */
  readonly run: (scene: UpTestScene) => Promise<UpTestEnd>
}

interface UpTestEnd {
  readonly verdict: UpVerdict | { readonly error: unknown }
  readonly begun: boolean
  readonly said: string
  readonly asked: readonly AgentRequest['ask'][]
  readonly types: readonly string[]
  readonly findings: readonly string[]
}

/** For tests: `up` on hosts whose agents do as scripts say. */
export async function upTest(): Promise<UpTest> {
  const wish = {
    cluster,
    lock: lockFor('1.37.1'),
    identity: await createIdentity('shop', new Date('2026-11-15T00:00:00Z')),
    attachments: new Map(),
    sources: new Map(),
    version: () => '0.1.0',
  }
  return { wish, run: async (scene) => runOn(wish, scene) }
}

async function runOn(
  wish: Wish,
  {
    of = cluster,
    voters = ['10.0.0.1'],
    ops = [op],
    script = works,
    missing = [],
    code = 'SSH_UNREACHABLE',
    restores = new Map(),
    trials = new Map(),
    ignore = [],
    world = {},
    yes,
    plan,
    dryRun = false,
    settleNodes = well,
    trial,
    answer,
  }: UpTestScene,
): Promise<UpTestEnd> {
  const asked: AgentRequest['ask'][] = []
  const events: Event[] = []
  const said: string[] = []
  const { context } = inMemory({}, world)
  const { facts } = planInput(of)
  const names = of.spec.hosts.map(({ name }) => name)
  const sessions = new Map(
    names
      .filter((name) => !missing.includes(name))
      .flatMap((name) => {
        const own = facts.get(name)
        return own === undefined
          ? []
          : [
              [
                name,
                scriptedSession(name, {
                  run: script,
                  facts: own,
                  ops,
                  asked,
                  answer: (ask) => answer?.(ask, name),
                }),
              ] as const,
            ]
      }),
  )
  const gone = (host: string): HyperkubeError => new HyperkubeError(code, 'nobody answers', { host })
  const crew = {
    sessions,
    agents: new Map<string, string>(),
    missing: new Map(missing.map((host) => [host, gone(host)])),
    restores,
    trials,
    close: async () => undefined,
  }
  let begun = false
  const verdict = await bringUp({
    context,
    options: { file: 'cluster.yml', output: 'table', input: true, ...(yes === undefined ? {} : { yes }) },
    flags: { ignore, forceUnlock: false, dryRun, plan, trial, mayAsk: true },
    wish: { ...wish, cluster: of },
    crew,
    leavers: { sessions: new Map(), meet: async () => new Map() },
    run: {
      tell: eventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', context.now, [
        (event) => void events.push(event),
      ]),
      say: (text) => void said.push(text),
    },
    look: async () => ({
      ...around,
      settleNodes,
      members: async () =>
        voters.map((address) => ({ name: '', peerUrls: [`https://${address}:2380`], learner: false })),
    }),
    keep: async () => undefined,
    begin: () => (begun = true),
    lasting: new AbortController().signal,
  }).catch((error: unknown) => ({ error }))
  return {
    verdict,
    begun,
    said: said.join(''),
    asked,
    types: asked.map(({ type }) => type),
    findings: events.flatMap(({ what }) =>
      what.type === 'finding' ? [`${what.finding.severity} ${what.finding.code}`] : [],
    ),
  }
}
