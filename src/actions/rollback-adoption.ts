import { hasErrors } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toolNames } from '../lifecycle/adoption/checks/check.ts'
import { reportStep } from '../lifecycle/agents/event-stream.ts'
import { createClusterClient } from '../lifecycle/cluster-client/create-cluster-client.ts'
import { drainTimeoutMs } from '../lifecycle/drain/drain.ts'
import { drainBeforeReturn } from '../lifecycle/execute/drain-before-return.ts'
import { returnHost } from '../lifecycle/execute/remove-host.ts'
import {
  buildReturnSteps,
  type HostToReturn,
  listLostMembers,
  listReadyHosts,
  passReturnGate,
  readReturnState,
  type ReturnStep,
} from '../lifecycle/execute/return-steps.ts'
import { buildWaitOptions } from '../lifecycle/execute/run-step.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { listClusterEndpoints } from '../lifecycle/inputs/host-endpoints.ts'
import { emptyProposal } from '../lifecycle/proposal/proposal.ts'
import { type Cluster, etcdHosts } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { limitHosts } from '../workspace/limit-hosts.ts'
import { buildClientOptions } from '../workspace/open-cluster.ts'
import {
  type ActionOutcome,
  type ActionRun,
  buildRefusedOutcome,
  buildUnconfirmedOutcome,
} from './phases/action-run.ts'
import { type ClusterConnection, connectCluster } from './phases/connect.ts'
import { createRemoteLookup } from './phases/propose.ts'
import {
  checkAnyReachable,
  checkUnreachable,
  readOpsOfRemoval,
  type RemovalOptions,
} from './phases/removal.ts'
import { withOperatorLock } from './phases/with-operator-lock.ts'

export interface RollbackAdoptionOptions extends RemovalOptions {
  /** Whether nodes are drained whose pods end with the container runtime. */
  readonly drain: boolean
  readonly onReturned: (host: string) => void
}

/** Milliseconds to wait for a host. Its kubelet may have to start all static pods on a slow disk. */
const gateTimeoutMs = 300_000

/**
 * Returns hosts of an adopted cluster to what the other tool installed. Phases: connect, check, show, confirm,
 * return one host at a time under the operator lock, while etcd keeps its quorum.
 */
export async function rollbackAdoption(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: RollbackAdoptionOptions,
  run: ActionRun,
): Promise<ActionOutcome> {
  requireRollbackPossible(inputs)
  await using connection = await connectCluster(context, inputs, options, run)
  const deps = { ...connection, context, options, run }
  const hosts = orderHosts(inputs.cluster, options.limit)
  const reachable = hosts.filter((host) => connection.connected.sessions.has(host))
  const findings = [
    ...checkUnreachable(connection, hosts).filter(({ code }) => !options.ignore.includes(code)),
    ...checkAnyReachable(noHost, hosts, reachable),
  ]
  for (const finding of findings) run.emit({ type: 'finding', finding })
  if (hasErrors(findings)) return buildRefusedOutcome(findings)
  const ops = await readOpsOfRemoval(connection, reachable)
  for (const host of reachable) run.show({ type: 'removal-ops', host, ops: ops.get(host) ?? [] })
  if (options.dryRun) {
    const steps = reachable.map((host) => ({ id: toStep(host), hosts: [host] }))
    options.onPlanned({ ...emptyProposal, findings, ops, steps })
    return { status: 'changes-pending', result: { outcome: 'unchanged' } }
  }
  const confirmation = await run.confirm({ type: 'changes' })
  if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
  await returnHosts(deps, reachable)
  const status = reachable.length === hosts.length ? 'ok' : 'changes-pending'
  return { status, result: { outcome: 'done' } }
}

/** Throws if hosts have nothing to return to. */
function requireRollbackPossible({ identity: { adoption, metadata } }: ClusterInputs): void {
  if (adoption === undefined) {
    throw new HyperkubeError('ADOPT_NOT_ADOPTED', `the cluster ${metadata.name} was not adopted`, {
      hint: 'to remove the cluster from its hosts: hyperkube reset',
    })
  }
  if (adoption.committed === undefined) return
  throw new HyperkubeError(
    'ADOPT_COMMITTED',
    `the adoption was committed at ${adoption.committed}: a rollback to ${adoption.from} is no longer possible`,
    { hint: 'to remove the cluster from its hosts: hyperkube reset' },
  )
}

interface RollbackDeps extends Pick<
  ClusterConnection,
  'inputs' | 'connected' | 'deferAbort' | 'deferredSignal'
> {
  readonly context: WorkspaceContext
  readonly options: RollbackAdoptionOptions
  readonly run: ActionRun
}

/**
 * Orders hosts against the order in which they moved: workers first, then control planes. Hosts that do not
 * respond come before them.
 */
function orderHosts(cluster: Cluster, limit: readonly string[] | undefined): readonly string[] {
  const hosts = limitHosts(cluster, limit).toReversed()
  const isWorker = ({ roles }: { readonly roles: readonly string[] }): boolean => roles.join() === 'worker'
  return [...hosts.filter(isWorker), ...hosts.filter((host) => !isWorker(host))].map(({ name }) => name)
}

const noHost = { code: 'ADOPT_NO_HOST', verb: 'return', notDone: 'changed' } as const

const toStep = (host: string): string => `return/${host}`

async function returnHosts(deps: RollbackDeps, hosts: readonly string[]): Promise<void> {
  const { context, inputs, connected, options, run, deferAbort, deferredSignal } = deps
  deferAbort()
  await withOperatorLock(
    { ...deps, forceUnlock: options.forceUnlock, removesHosts: true },
    async ({ claim, forgetHost }, signal) => {
      using client = await createClusterClient(listClusterEndpoints(inputs.cluster), {
        ...buildClientOptions(inputs, context, createRemoteLookup(connected)),
        signal: deferredSignal,
      })
      const reporting = { emit: run.emit, signal }
      const toReturn = describeHosts(inputs.cluster, hosts)
      const members = etcdHosts(inputs.cluster).map(({ name }) => name)
      const state = await readReturnState(toReturn, members, client)
      const from = inputs.identity.adoption?.from
      const runtime = from === 'rke1' ? 'docker' : undefined
      const isDrained = options.drain && runtime !== undefined
      const tool = from === undefined ? 'its previous tool' : toolNames[from]
      const steps = buildReturnSteps(toReturn, members, state, runtime)
      const gateOptions = {
        timeoutMs: gateTimeoutMs,
        now: context.now,
        signal,
        lostMembers: listLostMembers(state, connected.unreachable),
      }
      const passGates = async (gates: ReturnStep['before']): Promise<void> => {
        for (const gate of gates) await passReturnGate(gate, client, run.emit, gateOptions)
      }
      run.emit({
        type: 'steps-planned',
        steps: steps.map(({ host }) => ({
          step: toStep(host),
          title: `${isDrained ? 'drain and ' : ''}return ${host} to ${tool}`,
          hosts: [host],
        })),
      })
      for (const returnStep of steps) {
        const { host, before, after } = returnStep
        const session = connected.sessions.get(host)
        if (session === undefined) continue
        signal.throwIfAborted()
        const step = toStep(host)
        run.emit({ type: 'step-started', step })
        await reportStep(reporting, { step }, async () => {
          await passGates(before)
          if (isDrained) {
            const wait = buildWaitOptions(drainTimeoutMs, { ...reporting, now: context.now }, host)
            await drainBeforeReturn(host, client, wait)
          }
          await returnHost(session, claim, run.emit)
          forgetHost(host)
          await passGates(after)
          // This step, or an interrupted `up`, has drained these hosts.
          for (const name of listReadyHosts(returnStep)) await client.uncordon(name)
        })
        options.onReturned(host)
      }
    },
  )
}

function describeHosts(cluster: Cluster, names: readonly string[]): readonly HostToReturn[] {
  const members = new Set(etcdHosts(cluster).map(({ name }) => name))
  const controlPlanes = new Set(
    cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')).map(({ name }) => name),
  )
  return names.map((name) => ({
    name,
    isMember: members.has(name),
    isControlPlane: controlPlanes.has(name),
  }))
}
