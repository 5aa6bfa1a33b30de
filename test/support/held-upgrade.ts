import { expect } from 'vitest'
import { type Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { customObject, everyKind, type KindObject } from './every-kind.ts'

const allObjects: readonly KindObject[] = [...everyKind, customObject]

/** Creates an object of every kind and of a custom resource. */
export async function createEveryKind(api: KubeApi): Promise<void> {
  for (const { collection, body } of everyKind) await api.create(collection, body)
  await pollUntil(
    'the custom resource to be served',
    async () => (await api.text(customObject.collection).catch(() => undefined)) !== undefined,
    { timeoutMs: 60_000 },
  )
  await api.create(customObject.collection, customObject.body)
}

export async function removeEveryKind(api: KubeApi): Promise<void> {
  for (const { collection, body } of allObjects.toReversed())
    await api.remove(`${collection}/${body.metadata.name}`)
}

const bookkeeping = new Set(['resourceVersion', 'generation', 'managedFields'])

interface StoredObject {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly status?: unknown
}

/** Reads the objects without what controllers write all the time: status, versions and field managers. */
async function readEveryKind(api: KubeApi): Promise<ReadonlyMap<string, object>> {
  const objects = new Map<string, object>()
  for (const { collection, body } of allObjects) {
    const path = `${collection}/${body.metadata.name}`
    const { metadata, status: _, ...fields } = await api.get<StoredObject>(path)
    const kept = Object.entries(metadata).filter(([name]) => !bookkeeping.has(name))
    objects.set(path, { ...fields, metadata: Object.fromEntries(kept) })
  }
  return objects
}

async function isDeploymentObserved(api: KubeApi): Promise<boolean> {
  const { metadata, status } = await api.get<{
    metadata: { generation: number }
    status?: { observedGeneration?: number }
  }>('/apis/apps/v1/namespaces/kinds/deployments/kinds')
  return status?.observedGeneration === metadata.generation
}

/** Reads the objects after controllers have stopped changing them. */
export async function readSettledObjects(api: KubeApi): Promise<ReadonlyMap<string, object>> {
  // After a power cut it takes some time until a controller manager leads again.
  await pollUntil('a controller to observe the Deployment', async () => isDeploymentObserved(api), {
    timeoutMs: 60_000,
    intervalMs: 500,
  })
  let last = await readEveryKind(api)
  await pollUntil(
    'controllers to settle',
    async () => {
      const next = await readEveryKind(api)
      const isSettled = JSON.stringify([...last]) === JSON.stringify([...next])
      last = next
      return isSettled
    },
    { timeoutMs: 60_000, intervalMs: 2000 },
  )
  return last
}

/**
 * Fails unless every object is readable and equal to its state in `before`. Returns the number of objects.
 */
export async function expectEqualObjects(api: KubeApi, before: ReadonlyMap<string, object>): Promise<number> {
  const after = await readEveryKind(api)
  for (const [path, object] of before) expect(after.get(path), path).toEqual(object)
  return before.size
}

/**
 * Fails unless every object still has all fields that it has in `before`. More fields are allowed: a new
 * minor shows defaults of fields that the old minor does not know. An example is `maxUnavailable` of a
 * StatefulSet. Returns the number of objects.
 */
export async function expectKeptObjects(api: KubeApi, before: ReadonlyMap<string, object>): Promise<number> {
  const after = await readEveryKind(api)
  for (const [path, object] of before) expect(after.get(path), path).toMatchObject(object)
  return before.size
}

/** Lists the versions of the programs that run on hosts, for example `etcd-3.6.16`. */
export async function listRunningPrograms(hosts: readonly Host[]): Promise<string[]> {
  const names = 'etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy'
  const command = `for one in ${names}; do
    pid=$(systemctl show -p MainPID --value $one.service)
    if [ "$pid" != 0 ]; then basename "$(dirname "$(readlink /proc/$pid/exe)")"; fi
  done`
  const outputs = await Promise.all(hosts.map(async (host) => (await host.script(command)).stdout))
  return [...new Set(outputs.flatMap((text) => text.trim().split('\n')))].toSorted()
}

/** Lists the versions of all API servers with the minors that they emulate, for example `v1.37.1 as 1.36`. */
export async function listServedVersions(
  hosts: readonly Host[],
  credentials: Credentials,
): Promise<string[]> {
  const versions = await Promise.all(
    hosts.map(async ({ address }) => {
      const api = new KubeApi(`https://${address}:6443`, credentials)
      try {
        const version = await api.get<Record<string, string>>('/version')
        return `${version['gitVersion']} as ${version['emulationMajor']}.${version['emulationMinor']}`
      } finally {
        api.close()
      }
    }),
  )
  return [...new Set(versions)].toSorted()
}
