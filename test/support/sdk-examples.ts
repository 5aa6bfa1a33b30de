import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { z } from 'zod'
import { runCopyController } from '../../examples/sdk/copy-controller.ts'
import { reportDrift } from '../../examples/sdk/drift-report.ts'
import { findViolations } from '../../examples/sdk/policy-check.ts'
import { createClusterProvider } from '../../examples/sdk/pulumi-provider.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openKube } from '../../src/sdk/kube.ts'
import { createObject, deleteKubeObject } from '../../src/kube/write-objects.ts'
import { createUntypedKind } from '../../src/kube/object.ts'
import { findObject } from '../../src/kube/read-objects.ts'
import type { UpCluster } from './up-cluster.ts'

/** Expects that the policy check accepts the plan of the cluster, and refuses it with a stricter policy. */
export function expectPolicyChecked({ plan, hosts }: Pick<UpCluster, 'plan' | 'hosts'>): void {
  const downloadFrom = ['http://', 'https://']
  expect(findViolations(plan, { maxChangedHosts: hosts.length, downloadFrom })).toEqual([])
  expect(findViolations(plan, { maxChangedHosts: hosts.length - 1, downloadFrom })).toHaveLength(1)
}

/** Changes a file on the last host. The drift report must name it, and the provider of Pulumi must fix it. */
export async function expectDriftReportedAndFixed({ hosts, operator, directory }: UpCluster): Promise<void> {
  const host = hosts.at(-1)
  if (host === undefined) throw new Error('the cluster has no hosts')
  const inputs = {
    file: join(directory, 'cluster.yml'),
    key: join(directory, 'hyperkube/keys/lab.key'),
    executable: inject('executable'),
  }
  const drifted = '/etc/hyperkube/kubelet/config.yaml'
  // Pauses healing, because the agent would repair the drift first.
  await operator.must(0, 'heal', 'pause', host.name, '--for', '10m')
  await host.exec(['chmod', '644', drifted])
  const report = await reportDrift({ ...inputs, signal: AbortSignal.timeout(60_000) })
  expect(report).toContain(`- ${host.name}: change file ${drifted}`)
  const { id, outs } = await createClusterProvider().create(inputs)
  expect([id, outs.hosts]).toEqual(['lab', hosts.map(({ name }) => name)])
  expect((await host.exec(['stat', '-c', '%a', drifted])).stdout.trim()).not.toBe('644')
  await operator.must(0, 'heal', 'resume', host.name)
}

const namespaces = createUntypedKind('v1', 'Namespace')
const configMaps = createUntypedKind('v1', 'ConfigMap')
const withData = z.object({ data: z.object({ pem: z.string() }) })

/** Two controllers compete for the lease. The second one must continue the work of the first one. */
export async function expectControllerCopies({ operator, directory }: UpCluster): Promise<void> {
  const access = join(directory, 'sdk.kubeconfig')
  await writeFile(access, (await operator.must(0, 'kubeconfig')).stdout, { mode: 0o600 })
  const signal = AbortSignal.timeout(60_000)
  using client = await openKube({ program: 'copy-controller', access, signal })
  const source = { namespace: 'default', name: 'company-ca' }
  const target = { namespace: 'sdk-example', name: source.name }
  const start = () => {
    const stop = new AbortController()
    const timing = { retry: 1000 }
    const ended = runCopyController({ client, ...source, log: () => undefined, timing, signal: stop.signal })
    return async (): Promise<void> => {
      stop.abort()
      expect(await ended).toBe('stopped')
    }
  }
  const waitForCopy = async (): Promise<unknown> =>
    pollUntil(
      'the copy',
      async () => withData.safeParse(await findObject(client, configMaps, target)).data?.data.pem === 'text',
      { timeoutMs: 90_000, intervalMs: 50, signal },
    )
  await createObject(client, { apiVersion: 'v1', kind: 'ConfigMap', metadata: source, data: { pem: 'text' } })
  await createObject(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: target.namespace } })
  const stopFirst = start()
  await waitForCopy()
  const stopSecond = start()
  await stopFirst()
  await deleteKubeObject(client, configMaps, target)
  await waitForCopy()
  await stopSecond()
  await deleteKubeObject(client, configMaps, source)
  await deleteKubeObject(client, namespaces, { name: target.namespace })
}
