import type { OpenBundle } from '../../bundle/open.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { formatNames } from '../../kit/text.ts'
import { describeStep } from '../../rollout/describe.ts'
import { isApplyStep, isBeforeApi, type RolloutStep, startsBeforeApi } from '../../rollout/step.ts'
import { addressAt } from '../../spec/cidr.ts'
import { type HostCertificates, signHostCertificates } from '../agents/certificates.ts'
import { type EventBody, reportStep } from '../agents/event-stream.ts'
import type { Session } from '../agents/session.ts'
import { selectUploadPlans, uploadArtifacts } from '../agents/upload-artifacts.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'
import { type ClusterInputs, collectSecrets } from '../inputs/cluster-inputs.ts'
import type { Proposal } from '../proposal/proposal.ts'
import type { PlannedProvisionalChange } from '../provisional/plan-provisional.ts'
import { beginProvisionalChange, extendProvisionalChange } from '../provisional/provisional-requests.ts'
import { runSmokeTest } from '../smoke-test/smoke-test.ts'
import { createEarlyApply, type EarlyApply, planAddonTasks, planNetworkAddonTasks } from './apply-addons.ts'
import { passGate } from './gate.ts'
import { runApplyStep, runRemoveStep, type RunStepOptions } from './run-step.ts'

export interface ExecuteOptions extends RunStepOptions {
  readonly client: ClusterClient
  /** Air-gap bundle with the files for hosts that cannot download them. */
  readonly bundle?: OpenBundle | undefined
  /** Set if the change is provisional. */
  readonly provisional?: PlannedProvisionalChange | undefined
}

/** Milliseconds to wait for a gate. Long enough for a cold start on a slow disk. */
const gateTimeoutMs = 300_000

/** A unit of work that is reported when it starts and ends. Tasks run one after the other. */
interface Task {
  readonly planned: Extract<EventBody, { type: 'steps-planned' }>['steps'][number]
  readonly work: () => Promise<void>
}

/**
 * Executes a proposal step by step. A step starts only after its gates have passed. After an interrupt, hosts
 * finish the current step and no further step starts.
 */
export async function execute(
  inputs: ClusterInputs,
  proposal: Proposal,
  sessions: ReadonlyMap<string, Session>,
  options: ExecuteOptions,
): Promise<void> {
  const { emit, signal } = options
  await using earlyApply = createEarlyApply(proposal.addons, options)
  const tasks = planTasks(inputs, proposal, sessions, { ...options, earlyApply })
  emit({ type: 'steps-planned', steps: tasks.map(({ planned }) => planned) })
  for (const { planned, work } of tasks) {
    const { step, stage } = planned
    signal.throwIfAborted()
    emit({ type: 'step-started', step, ...(stage === undefined ? {} : { stage }) })
    await reportStep(options, { step }, work)
  }
}

function planTasks(
  inputs: ClusterInputs,
  { plans, ops, steps, clusterChanges, addons, renew }: Proposal,
  sessions: ReadonlyMap<string, Session>,
  options: ExecuteOptions & { readonly earlyApply: EarlyApply },
): Task[] {
  const { claim, client, bundle, earlyApply, provisional, now } = options
  const touchedHosts = new Set(steps.flatMap((step) => step.hosts))
  const touched = plans.filter(({ host }) => touchedHosts.has(host))
  const planByHost = new Map(plans.map((plan) => [plan.host, plan]))
  const secrets = collectSecrets(inputs)
  const { addon: networkAddon } = inputs.cluster.spec.network
  const plansToTest = selectPlansToTest(plans, steps, clusterChanges, networkAddon)
  let certificates: HostCertificates = new Map()
  const stepTask = (step: RolloutStep): Task => ({
    planned: {
      step: step.id,
      title: describeStep(step),
      hosts: [...step.hosts],
      ...(step.kind === 'apply' ? { stage: step.stage } : {}),
    },
    work: async () => {
      const through = async (gates: RolloutStep['after']): Promise<void> => passGates(gates, options)
      await through(step.before)
      if (step.kind === 'remove') await runRemoveStep(step, options)
      else
        await runApplyStep(
          step,
          { plans: planByHost, secrets, sessions, certificates, passGates: through },
          options,
        )
    },
  })
  // Cluster objects are applied as soon as the API is reachable. They are applied in every run, because an
  // interrupted run may have left objects out.
  const apiReadyIndex = steps.findLastIndex(startsBeforeApi) + 1
  const hosts = touched.map(({ host }) => host)
  const signTask = buildTask('certificates', `certificates for ${formatNames(hosts)}`, hosts, async () => {
    certificates = await signHostCertificates(inputs.identity, touched, sessions, claim, now(), renew)
  })
  const receivers = bundle === undefined ? [] : selectUploadPlans(plans, ops).map(({ host }) => host)
  const uploadTask = buildTask(
    'deliver',
    `files of the air-gap bundle for ${formatNames(receivers)}`,
    receivers,
    async () => {
      if (bundle !== undefined) await uploadArtifacts(bundle, plans, ops, sessions, options)
    },
  )
  const smokeTestTask = buildTask('verify', 'smoke test of pods and services on every node', [], async () =>
    runSmokeTest({
      ...options,
      plans: plansToTest,
      sessions,
      pods: client.smokeTestPods,
      service: apiService(inputs),
    }),
  )
  const testedHosts = plansToTest.map(({ host }) => host)
  // The steps of these hosts do not wait for ready nodes at bootstrap, because their network is an addon.
  const networkTask = buildTask(
    'network',
    `pod network of the addon ${networkAddon}`,
    testedHosts,
    async () =>
      passGates([{ kind: 'nodes-ready', hosts: testedHosts }], options).catch((error: unknown) => {
        throw explainMissingNetwork(error, networkAddon)
      }),
  )
  const provisionalHosts = [...(provisional?.hosts.keys() ?? [])]
  const beginProvisionalTask = buildTask(
    'provisional',
    `rollback targets of ${formatNames(provisionalHosts)}`,
    provisionalHosts,
    async () => {
      if (provisional !== undefined) await beginProvisionalChange(provisional, sessions, claim)
    },
  )
  const extendProvisionalTask = buildTask(
    'provisional-deadline',
    `rollback deadline of the provisional change on ${formatNames(provisionalHosts)}`,
    provisionalHosts,
    async () => {
      if (provisional !== undefined) await extendProvisionalChange(provisional, sessions, claim)
    },
  )
  return [
    ...(provisionalHosts.length === 0 ? [] : [beginProvisionalTask]),
    ...(receivers.length === 0 ? [] : [uploadTask]),
    ...(hosts.length === 0 ? [] : [signTask]),
    ...steps.slice(0, apiReadyIndex).map(stepTask),
    buildTask('objects', 'RBAC rules of hyperkube', [], async () => {
      await client.applyObjects()
      earlyApply.begin()
    }),
    ...planNetworkAddonTasks(addons, options, networkAddon).map(({ title, work }) =>
      buildTask(title, title, [], work),
    ),
    ...steps.slice(apiReadyIndex).map(stepTask),
    buildTask('nodes', 'labels and taints of nodes', [], async () => client.syncNodeLabels(plans)),
    ...(networkAddon === undefined || testedHosts.length === 0 ? [] : [networkTask]),
    ...planAddonTasks(addons, options, networkAddon).map(({ title, work }) =>
      buildTask(title, title, [], async () => {
        await earlyApply.end()
        await work()
      }),
    ),
    ...(plansToTest.length === 0 ? [] : [smokeTestTask]),
    ...(provisionalHosts.length === 0 ? [] : [extendProvisionalTask]),
  ]
}

function buildTask(step: string, title: string, hosts: readonly string[], work: () => Promise<void>): Task {
  return { planned: { step, title, hosts: [...hosts] }, work }
}

/**
 * Selects nodes that this run changes or whose smoke test was interrupted. Without flannel and without a
 * network addon no node is tested, because the user may not have installed a network yet.
 */
function selectPlansToTest(
  plans: Proposal['plans'],
  steps: readonly RolloutStep[],
  clusterChanges: Proposal['clusterChanges'],
  networkAddon: string | undefined,
): Proposal['plans'] {
  const changedHosts = new Set([
    ...steps
      .filter((step) => isApplyStep(step) && step.stages.some((stage) => !isBeforeApi(stage)))
      .flatMap(({ hosts }) => hosts),
    ...clusterChanges.flatMap((change) => (change.kind === 'smoke-test' ? [change.host] : [])),
  ])
  return plans.filter(
    ({ host, node, components }) =>
      changedHosts.has(host) &&
      node !== undefined &&
      (networkAddon !== undefined || components.some(({ name }) => name === 'flanneld')),
  )
}

/** Names the network addon in the error of nodes that did not become ready, because its pods are the likely cause. */
function explainMissingNetwork(error: unknown, networkAddon: string | undefined): unknown {
  if (!hasCode(error, 'GATE_NOT_PASSED')) return error
  return new HyperkubeError('GATE_NOT_PASSED', `nodes have no pod network of the addon ${networkAddon}`, {
    hint: 'hyperkube doctor reports its pods that are not ready; fix the cause, then run the same command again',
    cause: error,
  })
}

function apiService({ cluster }: ClusterInputs): { address: string; port: number } {
  const [services = ''] = cluster.spec.network.services
  return { address: addressAt(services, 1), port: 443 }
}

async function passGates(
  gates: RolloutStep['before'],
  { client, emit, now, signal }: ExecuteOptions,
): Promise<void> {
  for (const gate of gates) await passGate(gate, client, emit, { timeoutMs: gateTimeoutMs, now, signal })
}
