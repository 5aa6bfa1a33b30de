import { kindOf } from '../../../kube/object.ts'
import { get } from '../../../kube/read-objects.ts'
import { merge } from '../../../kube/write-objects.ts'
import type { ControllerRow } from '../../controller.ts'
import { Heartbeats } from '../../heartbeats.ts'
import { reconciling } from '../../reconciler.ts'
import { cordonMark, eventRights, hosts, isNews, nodes } from '../../watch-specs.ts'
import { type CordonAction, cordoner, decideCordon, settledAfter } from './cordon.ts'
import { isOfDisk } from './decide.ts'

/** A row of its own, because it may do what the other one must not: who has it on has decided that. */
export const diskCordoner: ControllerRow = {
  name: cordoner,
  aliases: [],
  summary: 'keeps new pods away from nodes whose disk fails, as long as it does',
  byDefault: false,
  watches: [nodes, hosts],
  rights: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'patch'] }, ...eventRights],
  build(scene) {
    const { queue, client, events, time } = scene
    const [known, agents] = [scene.informer(nodes), scene.informer(hosts)]
    const heartbeats = new Heartbeats(scene)
    /** Since when no probe of a disk has failed, as far as we have seen. */
    const well = new Map<string, number>()
    known.listen(({ key }) => queue.add(key))
    agents.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.hear(change.object)
      if (isNews(change)) queue.add(change.key)
    })
    return reconciling(scene, {
      async reconcile(name) {
        const [node, host] = [known.get(name), agents.get(name)]
        // Of a host that is silent nobody knows how its disk is: all stays as it is.
        if (node === undefined || host === undefined || heartbeats.isSilent(name)) return undefined
        const diskFails = (host.status.failing ?? []).some(({ code }) => isOfDisk(code))
        if (diskFails) well.delete(name)
        const since = well.get(name) ?? time.now()
        if (!diskFails) well.set(name, since)
        const { unschedulable, cordonedBy } = node
        const wellFor = diskFails ? 0 : time.now() - since
        const action = decideCordon({ unschedulable, cordonedBy, diskFails, wellFor })
        if (action !== 'nothing') {
          // Only as it was looked at: an administrator may be at it, too.
          const { metadata } = await get(client, kind, { name })
          const isSame = metadata.annotations?.[cordonMark] === cordonedBy
          if (!isSame) return { requeueAfter: 1000 }
          await merge(client, kind, { name }, patchOf(action, metadata.resourceVersion))
          const note = notes[action]
          const object = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: node.uid } }
          if (note !== undefined)
            await events.record(object, { type: 'Warning', reason: note[0], action: 'Cordon', note: note[1] })
        }
        return cordonedBy === undefined && action === 'nothing'
          ? undefined
          : { requeueAfter: settledAfter / 2 }
      },
    })
  },
}

const kind = kindOf('v1', 'Node')

const notes: Readonly<Partial<Record<CordonAction, readonly [reason: string, note: string]>>> = {
  cordon: ['DiskFails', 'the disk of this host fails: no more pods are put here until it is well'],
  uncordon: ['DiskWell', 'the disk of this host is well again: pods are put here as ever'],
}

function patchOf(action: CordonAction, resourceVersion: string | undefined): object {
  const mark = action === 'cordon' ? cordoner : null
  const metadata = { resourceVersion, annotations: { [cordonMark]: mark } }
  return action === 'forget' ? { metadata } : { metadata, spec: { unschedulable: action === 'cordon' } }
}
