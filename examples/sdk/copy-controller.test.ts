import { createUntypedKind, findObject, listObjects } from 'hyperkube/kube'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestCa, type TestCa } from '../../src/kit/testing/test-ca.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { FakeKubeApi } from '../../src/kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../../src/kube/testing/kube-test-bench.ts'
import { runCopyController } from './copy-controller.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})
const { serve, createClient } = createKubeTestBench(() => ca)
const configMaps = createUntypedKind('v1', 'ConfigMap')
const withData = z.object({ data: z.record(z.string(), z.string()) })

test('one leader copies the ConfigMap into every namespace and repairs copies; another one takes over', async () => {
  const api = new FakeKubeApi()
  const client = createClient([(await serve(api.respond)).url], { program: 'copy-controller' })
  for (const name of ['default', 'shop'])
    api.put(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const source = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name: 'ca' },
    data: { pem: 'one' },
  }
  api.put('/api/v1/namespaces/default/configmaps/ca', source)
  const start = () => {
    const [stop, lines] = [new AbortController(), new Array<string>()]
    const ended = runCopyController({
      client,
      namespace: 'default',
      name: 'ca',
      log: (line) => lines.push(line),
      timing: { retry: 500 },
      signal: stop.signal,
    })
    return { stop, lines, ended }
  }
  const readCopy = async (namespace: string) =>
    withData.safeParse(await findObject(client, configMaps, { namespace, name: 'ca' })).data?.data['pem']
  const waitForCopy = async (namespace: string, pem: string) =>
    pollUntil(`a copy in ${namespace}`, async () => (await readCopy(namespace)) === pem, {
      timeoutMs: 50_000,
      intervalMs: 10,
    })
  const first = start()
  await waitForCopy('shop', 'one')
  const second = start()
  api.change('/api/v1/namespaces/shop/configmaps/ca', { data: { pem: 'changed by hand' } })
  await waitForCopy('shop', 'one')
  first.stop.abort()
  expect(await first.ended).toBe('stopped')
  api.change('/api/v1/namespaces/default/configmaps/ca', { data: { pem: 'two' } })
  await waitForCopy('shop', 'two')
  expect(second.lines.filter((line) => line.startsWith('copied'))).toContain('copied ca to shop')
  second.stop.abort()
  expect(await second.ended).toBe('stopped')
  expect((await listObjects(client, configMaps)).items).toHaveLength(2)
})
