import type { EtcdRestoreProgress } from '../../../contract/etcd-restore.ts'
import type { Event } from '../../../contract/event.ts'
import type { Op } from '../../../contract/op.ts'
import type { AgentRequest, AgentResponse } from '../../../contract/request.ts'
import type { HostProvisionalChange } from '../../../contract/provisional-change.ts'
import { shippedCatalog } from '../../../catalog/shipped-catalog.ts'
import { createIdentity } from '../../../identity/identity.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { type AgentScript, scriptedSession } from '../../../lifecycle/testing/scripted-agent.ts'
import { createEventStream } from '../../../lifecycle/agents/event-stream.ts'
import { noAddons } from '../../../lifecycle/addons/proposal.ts'
import type { ClusterObjectChange } from '../../../lifecycle/cluster-objects/changes.ts'
import type { ClusterInputs } from '../../../lifecycle/inputs/cluster-inputs.ts'
import type { ProvisionalOptions } from '../../../lifecycle/provisional/plan-provisional.ts'
import { createFakeClusterClient } from '../../../lifecycle/testing/fake-cluster-client.ts'
import { buildTestCluster, buildTestLock, buildPlanInput } from '../../../plan/testing/fixtures.ts'
import type { Cluster } from '../../../spec/cluster.ts'
import { createInMemoryContext, type InMemoryOptions } from '../../testing/run-in-memory.ts'
import { type ApprovedPlan, changeConnectedHosts, type UpOutcome } from '../../../actions/up.ts'
import type { ExitCode } from '../../command/command.ts'
import { createActionRun, exitCodeByStatus } from '../../run/run-action.ts'

export const upTestCluster = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, etcd] }',
  '{ name: w1, address: 10.0.0.2, roles: [worker] }',
  '{ name: w2, address: 10.0.0.3, roles: [worker] }',
)
/** Three control planes, each with a member of etcd. */
export const threeControlPlanes = buildTestCluster(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }',
  '{ name: cp2, address: 10.0.0.2, roles: [control-plane, worker] }',
  '{ name: cp3, address: 10.0.0.3, roles: [control-plane, worker] }',
)
export const sampleOp: Op = {
  component: 'containerd',
  stage: 'prepare',
  action: 'create',
  target: 'file',
  name: '/etc/hyperkube/containerd/config.toml',
  because: [],
}
const successfulRun: AgentScript = async function* () {
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

const emptyApiState = { nodes: [], versions: [], objects: [], smokeTestNodes: [], addons: noAddons }

export interface UpTestOptions {
  readonly target?: Cluster
  /** Addresses of the etcd voters. */
  readonly voters?: readonly string[]
  readonly ops?: readonly Op[]
  /** Objects of the cluster that `up` would change. */
  readonly objects?: readonly ClusterObjectChange[]
  readonly script?: AgentScript
  readonly unreachable?: readonly string[]
  /** Error code of the connections to unreachable hosts. */
  readonly code?: string
  readonly restores?: ReadonlyMap<string, EtcdRestoreProgress>
  readonly provisionalChanges?: ReadonlyMap<string, HostProvisionalChange>
  readonly ignore?: readonly string[]
  readonly environment?: InMemoryOptions
  readonly yes?: true
  readonly plan?: ApprovedPlan
  readonly dryRun?: boolean
  readonly provisional?: ProvisionalOptions
  /** Overrides the default responses of the agents. */
  readonly respond?: (request: AgentRequest['body'], host: string) => AgentResponse['body'] | undefined
  /** Replaces the function that `up` calls last. */
  readonly syncNodeLabels?: () => Promise<void>
}

export interface UpHarness {
  readonly inputs: ClusterInputs
  /** Runs `up` and returns its output, events and requests. */
  readonly run: (options: UpTestOptions) => Promise<UpTestResult>
}

interface UpTestResult {
  readonly result: (Omit<UpOutcome, 'status'> & { readonly code: ExitCode }) | { readonly error: unknown }
  readonly started: boolean
  readonly output: string
  readonly requests: readonly AgentRequest['body'][]
  readonly types: readonly string[]
  readonly findings: readonly string[]
}

/** Creates a harness that runs `up` on hosts with scripted agents, for tests. */
export async function createUpHarness(): Promise<UpHarness> {
  const inputs = {
    cluster: upTestCluster,
    catalog: shippedCatalog,
    lock: buildTestLock('1.37.1'),
    identity: await createIdentity('shop', new Date('2026-11-15T00:00:00Z')),
    attachments: new Map(),
    sources: new Map(),
    charts: new Map(),
    version: () => '0.1.0',
  }
  return { inputs, run: async (options) => runScenario(inputs, options) }
}

async function runScenario(
  inputs: ClusterInputs,
  {
    target = upTestCluster,
    voters = ['10.0.0.1'],
    ops = [sampleOp],
    objects = [],
    script = successfulRun,
    unreachable = [],
    code = 'SSH_UNREACHABLE',
    restores = new Map(),
    provisionalChanges = new Map(),
    ignore = [],
    environment = {},
    yes,
    plan,
    dryRun = false,
    syncNodeLabels,
    provisional,
    respond,
  }: UpTestOptions,
): Promise<UpTestResult> {
  const requests: AgentRequest['body'][] = []
  const events: Event[] = []
  const messages: string[] = []
  const { context } = createInMemoryContext({}, environment)
  const { facts } = buildPlanInput(target)
  const names = target.spec.hosts.map(({ name }) => name)
  const sessions = new Map(
    names
      .filter((name) => !unreachable.includes(name))
      .flatMap((name) => {
        const hostFacts = facts.get(name)
        return hostFacts === undefined
          ? []
          : [
              [
                name,
                scriptedSession(name, {
                  run: script,
                  facts: hostFacts,
                  ops,
                  requests,
                  respond: (request) => respond?.(request, name),
                }),
              ] as const,
            ]
      }),
  )
  const buildError = (host: string): HyperkubeError => new HyperkubeError(code, 'no answer', { host })
  const connected = {
    sessions,
    agents: new Map<string, string>(),
    unreachable: new Map(unreachable.map((host) => [host, buildError(host)])),
    restores,
    provisionalChanges,
    close: async () => undefined,
  }
  let started = false
  const globalOptions = {
    file: 'cluster.yml',
    output: 'table',
    input: true,
    ...(yes === undefined ? {} : { yes }),
  } as const
  const reporter = {
    emit: createEventStream('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', context.now, [
      (event) => void events.push(event),
    ]),
    print: (text: string) => void messages.push(text),
  }
  const result = await changeConnectedHosts({
    context,
    options: {
      files: { file: 'cluster.yml' },
      forgetHostKeys: [],
      limit: undefined,
      ignore,
      forceUnlock: false,
      dryRun,
      plan,
      provisional,
    },
    inputs: { ...inputs, cluster: target },
    connected,
    removedHosts: { sessions: new Map(), connect: async () => new Map() },
    run: createActionRun(context, globalOptions, true, reporter),
    createClient: async () =>
      createFakeClusterClient({
        readApiState: async () => ({ ...emptyApiState, objects }),
        ...(syncNodeLabels === undefined ? {} : { syncNodeLabels }),
        members: async () =>
          voters.map((address) => ({ name: '', peerUrls: [`https://${address}:2380`], learner: false })),
      }),
    deferAbort: () => (started = true),
    deferredSignal: new AbortController().signal,
  }).then(
    ({ status, ...rest }) => ({ code: exitCodeByStatus[status], ...rest }),
    (error: unknown) => ({ error }),
  )
  return {
    result,
    started,
    output: messages.join(''),
    requests,
    types: requests.map(({ type }) => type),
    findings: events.flatMap(({ body }) =>
      body.type === 'finding' ? [`${body.finding.severity} ${body.finding.code}`] : [],
    ),
  }
}
