import type { OpenBundle } from '../bundle/open.ts'
import { addressAt } from '../spec/cidr.ts'
import { describeStep } from '../rollout/describe.ts'
import { startsBeforeApi, isApplyStep, isBeforeApi, type RolloutStep } from '../rollout/step.ts'
import { formatNames } from '../rollout/format-names.ts'
import { type EarlyApply, createEarlyApply } from './addons/early-apply.ts'
import { planAddonTasks } from './addons/apply-addons.ts'
import { type HostCertificates, signHostCertificates } from './certificates.ts'
import { uploadArtifacts, selectUploadPlans } from './upload-artifacts.ts'
import { passGate } from './gate.ts'
import type { ClusterWriter, ClusterReader } from './cluster-access.ts'
import type { Session } from './session.ts'
import { reportStep, type EventBody } from './event-stream.ts'
import type { Proposal } from './build-proposal.ts'
import type { ClusterInputs } from './cluster-inputs.ts'
import type { PlannedProvisionalChange } from './auto-rollback/plan-provisional.ts'
import { beginProvisionalChange, extendProvisionalChange } from './auto-rollback/provisional-requests.ts'
import { runSmokeTest } from './smoke-test/smoke-test.ts'
import { runRemoveStep, runApplyStep, type RunStepOptions } from './run-step.ts'

export interface ExecuteOptions extends RunStepOptions {
  readonly reader: ClusterReader
  readonly writer: ClusterWriter
  /** Air-gap bundle with the files for hosts that cannot download them. */
  readonly bundle?: OpenBundle | undefined
  /** Set if the change is provisional. */
  readonly provisional?: PlannedProvisionalChange | undefined
}

/** Milliseconds: long enough for a cold start on a slow disk. */
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
  const { claim, writer, bundle, earlyApply, provisional, now } = options
  const touched = plans.filter(({ host }) => steps.some((step) => step.hosts.includes(host)))
  const plansToTest = selectPlansToTest(plans, steps, clusterChanges)
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
      else await runApplyStep(step, { inputs, plans, sessions, certificates, passGates: through }, options)
    },
  })
  // Cluster objects are applied as soon as the API is reachable. This task always runs, because an
  // interrupted run may have left objects out.
  const apiReadyIndex = steps.findLastIndex(startsBeforeApi) + 1
  const hosts = touched.map(({ host }) => host)
  const signTask = buildTask('certificates', `certificates for ${formatNames(hosts)}`, hosts, async () => {
    certificates = await signHostCertificates(inputs.identity, touched, sessions, claim, now(), renew)
  })
  const receivers = bundle === undefined ? [] : selectUploadPlans(plans, ops).map(({ host }) => host)
  const uploadTask = buildTask(
    'deliver',
    `files for ${formatNames(receivers)}, out of the bundle`,
    receivers,
    async () => {
      if (bundle !== undefined) await uploadArtifacts(bundle, plans, ops, sessions, options)
    },
  )
  const smokeTestTask = buildTask('verify', 'pods and services on every node', [], async () =>
    runSmokeTest({
      ...options,
      plans: plansToTest,
      sessions,
      pods: writer.smokeTestPods,
      service: apiService(inputs),
    }),
  )
  const provisionalHosts = [...(provisional?.hosts.keys() ?? [])]
  const beginProvisionalTask = buildTask(
    'trial',
    `what ${formatNames(provisionalHosts)} would go back to`,
    provisionalHosts,
    async () => {
      if (provisional !== undefined) await beginProvisionalChange(provisional, sessions, claim)
    },
  )
  const extendProvisionalTask = buildTask(
    'trial-time',
    `the time of the trial on ${formatNames(provisionalHosts)}`,
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
    buildTask('objects', 'the rights of our programs', [], async () => {
      await writer.applyObjects()
      earlyApply.begin()
    }),
    ...steps.slice(apiReadyIndex).map(stepTask),
    buildTask('nodes', 'labels and taints of nodes', [], async () => writer.syncNodeLabels(plans)),
    ...planAddonTasks(addons, options).map(({ title, work }) =>
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
 * Selects nodes that this run changes or whose smoke test was interrupted. Nodes without flannel are left
 * out, because the user may not have installed a network yet.
 */
function selectPlansToTest(
  plans: Proposal['plans'],
  steps: readonly RolloutStep[],
  clusterChanges: Proposal['clusterChanges'],
): Proposal['plans'] {
  const changedHosts = new Set([
    ...steps
      .filter((step) => isApplyStep(step) && step.stages.some((stage) => !isBeforeApi(stage)))
      .flatMap(({ hosts }) => hosts),
    ...clusterChanges.flatMap((change) => (change.kind === 'trial' ? [change.host] : [])),
  ])
  return plans.filter(
    ({ host, node, components }) =>
      changedHosts.has(host) && node !== undefined && components.some(({ name }) => name === 'flanneld'),
  )
}

function apiService({ cluster }: ClusterInputs): { address: string; port: number } {
  const [services = ''] = cluster.spec.network.services
  return { address: addressAt(services, 1), port: 443 }
}

async function passGates(
  gates: RolloutStep['before'],
  { reader, emit, now, signal }: ExecuteOptions,
): Promise<void> {
  for (const gate of gates) await passGate(gate, reader, emit, { timeoutMs: gateTimeoutMs, now, signal })
}
