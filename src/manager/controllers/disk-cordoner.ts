import { createUntypedKind } from '../../kube/object.ts'
import { getObject } from '../../kube/read-objects.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats } from '../heartbeats.ts'
import { cordonedByAnnotation, eventRules, hostWatch, isHostChanged, nodeWatch } from '../watch-specs.ts'
import { isDiskCode } from './node-conditions.ts'

/** Value of the annotation on nodes that this controller cordoned. */
const diskCordonerName = 'disk-cordoner'

/**
 * Milliseconds that a disk must be healthy before its node is uncordoned. Otherwise an unstable disk would
 * move pods back and forth.
 */
export const diskSettleMs = 10 * 60_000

/**
 * Cordons nodes whose disk fails. This controller is separate from nodeConditions, because it needs more
 * permissions and an operator must enable it.
 */
export const diskCordoner: ControllerDefinition = {
  name: diskCordonerName,
  aliases: [],
  summary: 'cordons nodes whose disk fails, until the disk is healthy',
  byDefault: false,
  watches: [nodeWatch, hostWatch],
  rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'patch'] }, ...eventRules],
  build(context) {
    const { queue, client, events, time } = context
    const [known, agents] = [context.getInformer(nodeWatch), context.getInformer(hostWatch)]
    const heartbeats = new Heartbeats(context)
    /** Time since which this process has observed the disk of each host as healthy. */
    const healthySince = new Map<string, number>()
    known.listen(({ key }) => queue.add(key))
    agents.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      if (isHostChanged(change)) queue.add(change.key)
    })
    return createReconciler(context, {
      async reconcile(name) {
        const [node, host] = [known.get(name), agents.get(name)]
        // The disk state of a silent host is unknown, so the node is not changed.
        if (node === undefined || host === undefined || heartbeats.isSilent(name)) return undefined
        const isDiskFailing = (host.status.failing ?? []).some(({ code }) => isDiskCode(code))
        if (isDiskFailing) healthySince.delete(name)
        const since = healthySince.get(name) ?? time.now()
        if (!isDiskFailing) healthySince.set(name, since)
        const { unschedulable, cordonedBy } = node
        const healthyForMs = isDiskFailing ? 0 : time.now() - since
        const action = decideCordon({ unschedulable, cordonedBy, isDiskFailing, healthyForMs })
        if (action !== 'nothing') {
          // The patch applies only to the version that was read, because an administrator may change the node
          // at the same time.
          const { metadata } = await getObject(client, nodeKind, { name })
          const isUnchanged = metadata.annotations?.[cordonedByAnnotation] === cordonedBy
          if (!isUnchanged) return { requeueAfter: 1000 }
          await patchObject(client, nodeKind, { name }, buildPatch(action, metadata.resourceVersion))
          const note = notes[action]
          const object = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: node.uid } }
          if (note !== undefined)
            await events.record(object, { type: 'Warning', reason: note[0], action: 'Cordon', note: note[1] })
        }
        return cordonedBy === undefined && action === 'nothing'
          ? undefined
          : { requeueAfter: diskSettleMs / 2 }
      },
    })
  },
}

const nodeKind = createUntypedKind('v1', 'Node')

const notes: Readonly<Partial<Record<CordonAction, readonly [reason: string, note: string]>>> = {
  cordon: ['DiskFailing', 'disk probe fails; node cordoned until the disk is healthy'],
  uncordon: ['DiskHealthy', 'disk healthy again; node uncordoned'],
}

function buildPatch(action: CordonAction, resourceVersion: string | undefined): object {
  const owner = action === 'cordon' ? diskCordonerName : null
  const metadata = { resourceVersion, annotations: { [cordonedByAnnotation]: owner } }
  return action === 'forget' ? { metadata } : { metadata, spec: { unschedulable: action === 'cordon' } }
}

interface CordonView {
  readonly unschedulable: boolean
  /**
   * Name of the hyperkube controller that cordoned the node, from its annotation; undefined without the
   * annotation.
   */
  readonly cordonedBy: string | undefined
  readonly isDiskFailing: boolean
  /** Milliseconds for which this process has observed a healthy disk. */
  readonly healthyForMs: number
}

type CordonAction = 'cordon' | 'uncordon' | 'forget' | 'nothing'

/**
 * Decides what to do about a node whose disk fails or has recovered. Cordons by other users are not changed.
 * If a user uncordons the node, it is not cordoned again until the disk has recovered.
 */
export function decideCordon({
  unschedulable,
  cordonedBy,
  isDiskFailing,
  healthyForMs,
}: CordonView): CordonAction {
  if (cordonedBy !== undefined && cordonedBy !== diskCordonerName) return 'nothing'
  const isOwn = cordonedBy === diskCordonerName
  if (isDiskFailing) return unschedulable || isOwn ? 'nothing' : 'cordon'
  if (!isOwn || healthyForMs < diskSettleMs) return 'nothing'
  return unschedulable ? 'uncordon' : 'forget'
}
