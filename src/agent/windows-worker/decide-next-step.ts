import {
  findAdapter,
  reconcileMetadataRoutes,
  waitForNetwork,
  type Overlay,
  reconcileSourceAddress,
  reconcileSwitch,
  reconcileNetworkType,
} from './reconcile-network.ts'
import { findGiveUpStep, findNextAttemptTime, findReopenStep } from './backoff.ts'
import { reconcileService } from './reconcile-service.ts'
import { findStepComponent, type ReconcileStep } from './step.ts'
import type { ReconcileContext, DesiredSteps } from './desired-steps.ts'

/** The next step, the reason to wait, or `healthy` if the worker matches its spec. */
export type ReconcileDecision =
  | { readonly kind: 'step'; readonly step: ReconcileStep }
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'healthy' }

/**
 * Returns the next step towards a working worker, in dependency order. This is a pure function, so tests can
 * simulate any sequence of events.
 */
export function decideNextStep(context: ReconcileContext): ReconcileDecision {
  let backoffReason: string | undefined
  for (const desired of desiredSteps(context)) {
    if ('wait' in desired) return { kind: 'wait', reason: desired.wait }
    const { step, blocking } = desired
    const component = findStepComponent(step, context.spec)
    if (context.exhausted?.has(component) === true) {
      backoffReason ??= `an operator, because healing of ${component} is exhausted`
      if (blocking) return { kind: 'wait', reason: backoffReason }
      continue
    }
    if (findNextAttemptTime(context, step) <= context.now)
      return { kind: 'step', step: findReopenStep(context, step) ?? step }
    const giveUpStep = findGiveUpStep(context, step)
    if (giveUpStep !== undefined) return { kind: 'step', step: giveUpStep }
    backoffReason ??= `the next try of ${step.do}`
    if (blocking) return { kind: 'wait', reason: backoffReason }
  }
  return backoffReason === undefined ? { kind: 'healthy' } : { kind: 'wait', reason: backoffReason }
}

function* desiredSteps(context: ReconcileContext): DesiredSteps {
  yield* reconcileFirewall(context)
  yield* reconcileMetadataRoutes(context)
  yield* reconcileService(context, 'apiserver-proxy', [])
  yield* reconcileService(context, 'containerd', [])
  yield* reconcileService(context, 'kubelet', [])
  const { overlay, services } = context.spec
  // Without an overlay, another network plugin manages the pod network. kube-proxy then waits for no other
  // service here.
  if (overlay === undefined) yield* reconcileService(context, 'kube-proxy', [])
  else if (services.flanneld !== undefined) yield* reconcilePodNetwork(context, overlay)
}

function* reconcilePodNetwork(context: ReconcileContext, overlay: Overlay): DesiredSteps {
  const { observed } = context
  const hns = observed.services.get('hns')
  if (hns?.state !== 'Running') yield { step: { do: 'start-hns' }, blocking: true }
  const reason = findMissingPrerequisite(context)
  if (reason !== undefined) yield { wait: reason }
  const { networks = [], subnet = '' } = observed
  yield* reconcileSwitch(context, overlay.anchor, networks)
  yield* reconcileNetworkType(context, overlay.network, networks)
  yield* reconcileService(context, 'flanneld', [String(hns?.processId), subnet])
  const network = networks.find(({ name }) => name === overlay.network.name)
  if (network?.managementAddress === undefined) {
    yield* waitForNetwork(context, overlay.network)
    return
  }
  yield* reconcileSourceAddress(context, network)
  yield* reconcileService(context, 'kube-proxy', [
    String(hns?.processId),
    network.id,
    String(observed.sourceAddress),
  ])
}

/** Returns what is missing before any network can be created. */
function findMissingPrerequisite({ spec, observed }: ReconcileContext): string | undefined {
  if (observed.subnet === undefined) return 'the node to be registered and to get its subnet'
  if (observed.networks === undefined) return 'HNS to respond'
  return findAdapter(spec, observed) === undefined ? `an adapter with the address ${spec.address}` : undefined
}

function* reconcileFirewall({ spec, observed }: ReconcileContext): DesiredSteps {
  for (const { name, protocol, ports } of spec.firewall) {
    const rule = observed.rules.find((one) => one.name === name)
    const isAllowing = rule?.enabled === true && rule.inbound && rule.allows
    if (!isAllowing || rule.protocol !== protocol || rule.ports !== ports)
      yield { step: { do: 'allow', rule: name }, blocking: false }
  }
}
