import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { pollUntil } from '../kit/poll.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { FakeKubeApi } from '../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../kube/testing/kube-test-bench.ts'
import {
  applyObject,
  createUntypedKind,
  elect,
  findObject,
  getObject,
  type KubeClient,
  openKube,
} from './kube.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve } = createKubeTestBench(() => ca)
const configMaps = createUntypedKind('v1', 'ConfigMap')
const leases = createUntypedKind('coordination.k8s.io/v1', 'Lease')
const lease = { namespace: 'kube-system', name: 'test' }
const never = new AbortController().signal

async function openTestClient(api: FakeKubeApi, signal = never): Promise<KubeClient> {
  const { url } = await serve(api.respond)
  return openKube({
    program: 'shop',
    signal,
    access: { servers: [url], ca: ca.certificate, credentials: ca.client },
  })
}

test('a kubeconfig is read, and fields belong to the program', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kube-'))
  try {
    const { url } = await serve(new FakeKubeApi().respond)
    const file = join(directory, 'config')
    const encode = (text: string): string => Buffer.from(text).toString('base64')
    const user = {
      'client-certificate-data': encode(ca.client.certificate),
      'client-key-data': encode(ca.client.privateKey),
    }
    const config = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [
        { name: 'a', cluster: { server: url, 'certificate-authority-data': encode(ca.certificate) } },
      ],
      users: [{ name: 'a', user }],
    }
    await writeFile(file, JSON.stringify(config))
    using client = await openKube({ program: 'shop', signal: never, access: file })
    const metadata = { namespace: 'default', name: 'a' }
    await applyObject(client, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
    expect(await getObject(client, configMaps, metadata)).toMatchObject({
      metadata: { managedFields: [{ manager: 'shop' }] },
    })
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('one contender leads, and the other one follows when it stops', async () => {
  const api = new FakeKubeApi()
  using client = await openTestClient(api)
  const timing = { retry: 500 }
  const led: string[] = []
  const contend = (identity: string) => {
    const stop = new AbortController()
    const ended = elect({ client, lease, identity, timing, signal: stop.signal }, async (term) => {
      led.push(`${identity} ${term.fence().transitions}`)
      await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }))
    })
    return { stop, ended }
  }
  // If the machine is busy, the release fails and the second contender waits until the lease expires.
  const waitForLeader = async (count: number) =>
    pollUntil('a leader', async () => led.length === count, { timeoutMs: 50_000, intervalMs: 5 })
  const one = contend('one')
  await waitForLeader(1)
  const two = contend('two')
  one.stop.abort()
  expect(await one.ended).toBe('stopped')
  await waitForLeader(2)
  two.stop.abort()
  expect(await two.ended).toBe('stopped')
  expect(led).toEqual(['one 0', 'two 1'])
  expect(await findObject(client, leases, lease)).toMatchObject({ spec: { holderIdentity: '' } })
})
