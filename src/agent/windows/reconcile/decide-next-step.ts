import {
  adapterOf,
  metadataRoutes,
  networkIsLate,
  type Overlay,
  sourceAddress,
  switchIsHeld,
  wrongNetwork,
} from './reconcile-network.ts'
import { givenUp, mayTakeAt, reopened } from './backoff.ts'
import { serviceRuns } from './reconcile-service.ts'
import type { Step } from './step.ts'
import type { Scene, Wishes } from './desired-steps.ts'

/** What to do now, or what is waited for; neither when all is as it shall be. */
export type Decision =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'well' }

/**
 * The next step towards a worker that works, in the order in which things need each other. Pure: all that it knows it is
 * told, so that any number of courses of events can be tried in memory.
 */
export function decide(scene: Scene): Decision {
  let paced: string | undefined
  for (const wanted of wishes(scene)) {
    if ('wait' in wanted) return { kind: 'wait', reason: wanted.wait }
    const { step, keeps } = wanted
    if (mayTakeAt(scene, step) <= scene.now) return { kind: 'step', step: reopened(scene, step) ?? step }
    const said = givenUp(scene, step)
    if (said !== undefined) return { kind: 'step', step: said }
    paced ??= `${step.do} was tried a moment ago`
    if (keeps) return { kind: 'wait', reason: paced }
  }
  return paced === undefined ? { kind: 'well' } : { kind: 'wait', reason: paced }
}

function* wishes(scene: Scene): Wishes {
  yield* rules(scene)
  yield* metadataRoutes(scene)
  yield* serviceRuns(scene, 'apiserver-proxy', [])
  yield* serviceRuns(scene, 'containerd', [])
  yield* serviceRuns(scene, 'kubelet', [])
  const { overlay, services } = scene.wish
  // Whoever else makes the network starts kube-proxy with what it needs.
  if (overlay === undefined) yield* serviceRuns(scene, 'kube-proxy', [])
  else if (services.flanneld !== undefined) yield* networkOfPods(scene, overlay)
}

function* networkOfPods(scene: Scene, overlay: Overlay): Wishes {
  const { seen } = scene
  const hns = seen.services.get('hns')
  if (hns?.state !== 'Running') yield { step: { do: 'start-hns' }, keeps: true }
  const reason = missingFor(scene)
  if (reason !== undefined) yield { wait: reason }
  const { networks = [], subnet = '' } = seen
  yield* switchIsHeld(scene, overlay.hold, networks)
  yield* wrongNetwork(scene, overlay.network, networks)
  yield* serviceRuns(scene, 'flanneld', [String(hns?.processId), subnet])
  const network = networks.find(({ name }) => name === overlay.network.name)
  if (network?.managementAddress === undefined) {
    yield* networkIsLate(scene, overlay.network)
    return
  }
  yield* sourceAddress(scene, network)
  yield* serviceRuns(scene, 'kube-proxy', [String(hns?.processId), network.id, String(seen.sourceAddress)])
}

/** What is missing for any network at all. */
function missingFor({ wish, seen }: Scene): string | undefined {
  if (seen.subnet === undefined) return 'the node to be registered and to have got its subnet'
  if (seen.networks === undefined) return 'HNS to answer'
  return adapterOf(wish, seen) === undefined ? `an adapter with the address ${wish.address}` : undefined
}

function* rules({ wish, seen }: Scene): Wishes {
  for (const { name, protocol, ports } of wish.firewall) {
    const rule = seen.rules.find((one) => one.name === name)
    const lets = rule?.enabled === true && rule.inbound && rule.allows
    if (!lets || rule.protocol !== protocol || rule.ports !== ports)
      yield { step: { do: 'allow', rule: name }, keeps: false }
  }
}
