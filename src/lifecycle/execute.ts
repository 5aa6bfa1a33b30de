import type { OpenBundle } from '../bundle/open.ts'
import { addressAt } from '../spec/cidr.ts'
import { describeStep } from '../rollout/describe.ts'
import { beginsEarly, isApply, isEarly, type Step } from '../rollout/step.ts'
import { list } from '../rollout/format-names.ts'
import { type Ahead, aheadOf } from './addons/early-apply.ts'
import { addonWork } from './addons/apply-addons.ts'
import { type Certificates, certify } from './certificates.ts'
import { deliverAll, hostsToDeliver } from './upload-artifacts.ts'
import { passGate } from './gate.ts'
import type { Interior, Observer } from './cluster-access.ts'
import type { Session } from './session.ts'
import { toldStep, type What } from './event-stream.ts'
import type { Proposal, Wish } from './build-proposal.ts'
import type { PlannedTrial } from './auto-rollback/plan-provisional.ts'
import { beginTrial, extendTrial } from './auto-rollback/provisional-requests.ts'
import { verify } from './smoke-test/smoke-test.ts'
import { depart, visit, type VisitOptions } from './run-step.ts'

export interface ExecuteOptions extends VisitOptions {
  readonly observer: Observer
  readonly interior: Interior
  /** Where files come from, for hosts that have no way to them. */
  readonly bundle?: OpenBundle | undefined
  /** Where hosts shall go back by themselves, unless it is kept. */
  readonly trial?: PlannedTrial | undefined
}

/** A slow disk and a cold start together stay below it. */
const gateTime = 300_000

/** One thing after the other, each told of when it begins and ends. */
interface Turn {
  readonly planned: Extract<What, { type: 'steps-planned' }>['steps'][number]
  readonly work: () => Promise<void>
}

/**
 * Does what was proposed, step by step, each behind what must be so before. Once it shall stop, hosts finish what they are
 * at, and no other step is begun.
 */
export async function execute(
  wish: Wish,
  proposal: Proposal,
  sessions: ReadonlyMap<string, Session>,
  options: ExecuteOptions,
): Promise<void> {
  const { tell, signal } = options
  await using ahead = aheadOf(proposal.addons, options)
  const turns = turnsOf(wish, proposal, sessions, { ...options, ahead })
  tell({ type: 'steps-planned', steps: turns.map(({ planned }) => planned) })
  for (const { planned, work } of turns) {
    const { step, stage } = planned
    signal.throwIfAborted()
    tell({ type: 'step-started', step, ...(stage === undefined ? {} : { stage }) })
    await toldStep(options, { step }, work)
  }
}

function turnsOf(
  wish: Wish,
  { plans, ops, steps, inside, addons, renew }: Proposal,
  sessions: ReadonlyMap<string, Session>,
  options: ExecuteOptions & { readonly ahead: Ahead },
): Turn[] {
  const { claim, interior, bundle, ahead, trial, now } = options
  const touched = plans.filter(({ host }) => steps.some((step) => step.hosts.includes(host)))
  const fresh = plansToVerify(plans, steps, inside)
  let certificates: Certificates = new Map()
  const stepTurn = (step: Step): Turn => ({
    planned: {
      step: step.id,
      title: describeStep(step),
      hosts: [...step.hosts],
      ...(step.what === 'apply' ? { stage: step.stage } : {}),
    },
    work: async () => {
      const through = async (gates: Step['after']): Promise<void> => pass(gates, options)
      await through(step.before)
      if (step.what === 'leave') await depart(step, options)
      else await visit(step, { wish, plans, sessions, certificates, pass: through }, options)
    },
  })
  // A run that was cut may have left an API without them, so they are looked at in any case, once it answers.
  const answering = steps.findLastIndex(beginsEarly) + 1
  const hosts = touched.map(({ host }) => host)
  const sign = turn('certificates', `certificates for ${list(hosts)}`, hosts, async () => {
    certificates = await certify(wish.identity, touched, sessions, claim, now(), renew)
  })
  const receivers = bundle === undefined ? [] : hostsToDeliver(plans, ops).map(({ host }) => host)
  const bring = turn('deliver', `files for ${list(receivers)}, out of the bundle`, receivers, async () => {
    if (bundle !== undefined) await deliverAll(bundle, plans, ops, sessions, options)
  })
  const prove = turn('verify', 'pods and services on every node', [], async () =>
    verify({ ...options, plans: fresh, sessions, pods: interior.trialPods, service: apiService(wish) }),
  )
  const trying = [...(trial?.hosts.keys() ?? [])]
  const remember = turn('trial', `what ${list(trying)} would go back to`, trying, async () => {
    if (trial !== undefined) await beginTrial(trial, sessions, claim)
  })
  const count = turn('trial-time', `the time of the trial on ${list(trying)}`, trying, async () => {
    if (trial !== undefined) await extendTrial(trial, sessions, claim)
  })
  return [
    ...(trying.length === 0 ? [] : [remember]),
    ...(receivers.length === 0 ? [] : [bring]),
    ...(hosts.length === 0 ? [] : [sign]),
    ...steps.slice(0, answering).map(stepTurn),
    turn('objects', 'the rights of our programs', [], async () => {
      await interior.putObjects()
      ahead.begin()
    }),
    ...steps.slice(answering).map(stepTurn),
    turn('nodes', 'labels and taints of nodes', [], async () => interior.settleNodes(plans)),
    ...addonWork(addons, options).map(({ title, work }) =>
      turn(title, title, [], async () => {
        await ahead.end()
        await work()
      }),
    ),
    ...(fresh.length === 0 ? [] : [prove]),
    ...(trying.length === 0 ? [] : [count]),
  ]
}

function turn(step: string, title: string, hosts: readonly string[], work: () => Promise<void>): Turn {
  return { planned: { step, title, hosts: [...hosts] }, work }
}

/** Nodes that something was done to, now or in a run that was cut. Where the network is somebody else's, it may not be there yet. */
function plansToVerify(
  plans: Proposal['plans'],
  steps: readonly Step[],
  inside: Proposal['inside'],
): Proposal['plans'] {
  const visited = new Set([
    ...steps
      .filter((step) => isApply(step) && step.stages.some((stage) => !isEarly(stage)))
      .flatMap(({ hosts }) => hosts),
    ...inside.flatMap((change) => (change.kind === 'trial' ? [change.host] : [])),
  ])
  return plans.filter(
    ({ host, node, components }) =>
      visited.has(host) && node !== undefined && components.some(({ name }) => name === 'flanneld'),
  )
}

function apiService({ cluster }: Wish): { address: string; port: number } {
  const [services = ''] = cluster.spec.network.services
  return { address: addressAt(services, 1), port: 443 }
}

async function pass(gates: Step['before'], { observer, tell, now, signal }: ExecuteOptions): Promise<void> {
  for (const gate of gates) await passGate(gate, observer, tell, { within: gateTime, now, signal })
}
