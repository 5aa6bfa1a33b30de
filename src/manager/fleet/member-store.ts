import { z } from 'zod'
import { readVersioned } from '../../contract/versioned.ts'
import { initialMemberState, type MemberState, memberStateFormat } from '../../fleet/member-state.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { createObject, replaceObject } from '../../kube/write-objects.ts'

/** Storage of the state of a managed cluster. */
export interface MemberStore {
  read(): Promise<MemberState>
  /** Changes the state. Nothing is written if `change` returns the same object. */
  update(change: (state: MemberState) => MemberState): Promise<MemberState>
}

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })
const configMapKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'ConfigMap', schema }
const location = { namespace: 'kube-system', name: 'hyperkube-fleet-member' } as const
const field = 'state'

/** Creates a store in a ConfigMap of the managed cluster, so that the fence survives a change of the leader. */
export function createMemberStore(client: KubeClient): MemberStore {
  const exclusively = createMutex()
  const find = async () => findObject(client, configMapKind, location)
  return {
    read: async () => parseState(await find()),
    async update(change) {
      return exclusively(async () => {
        const found = await find()
        const before = parseState(found)
        const next = change(before)
        if (next === before) return before
        const { apiVersion, kind } = configMapKind
        const data = { [field]: JSON.stringify(next) }
        // The resourceVersion makes the write fail if another writer was faster; the caller then retries.
        const { resourceVersion } = found?.metadata ?? {}
        const manifest = { apiVersion, kind, metadata: { ...location, resourceVersion }, data }
        await (found === undefined ? createObject : replaceObject)(client, manifest)
        return next
      })
    },
  }
}

function parseState(object: z.infer<typeof schema> | undefined): MemberState {
  if (object === undefined) return initialMemberState
  try {
    return readVersioned(memberStateFormat, JSON.parse(object.data?.[field] ?? ''))
  } catch (cause) {
    // An empty state would accept older documents, so it is never replaced.
    throw new HyperkubeError(
      'FLEET_STATE_NOT_READ',
      `ConfigMap ${location.namespace}/${location.name} is damaged or was changed`,
      {
        hint: `restore it from a backup; or delete it, but then the cluster accepts older documents: kubectl -n ${location.namespace} delete configmap ${location.name}`,
        cause,
      },
    )
  }
}
