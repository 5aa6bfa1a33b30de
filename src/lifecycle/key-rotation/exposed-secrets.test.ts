import { beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { findSecretNames, listExposedSecrets } from './exposed-secrets.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)
beforeAll(async () => {
  ca = await createTestCa()
})

const podSpec = {
  nodeName: 'w1',
  serviceAccountName: 'secret-free',
  imagePullSecrets: [{ name: 'pull' }],
  volumes: [
    { name: 'a', secret: { secretName: 'volume' } },
    { name: 'b', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'no' } }] } },
    { name: 'c', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
    { name: 'secret', emptyDir: {} },
  ],
  initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'env-from' } }] }],
  containers: [
    {
      name: 'c',
      env: [
        { name: 'X', valueFrom: { secretKeyRef: { name: 'env', key: 'x' } } },
        { name: 'Y', valueFrom: { configMapKeyRef: { name: 'no', key: 'x' } } },
      ],
    },
  ],
}

test('every reference of a pod to a Secret is found, and nothing else', () => {
  expect([...findSecretNames(podSpec)].toSorted()).toEqual([
    'csi',
    'env',
    'env-from',
    'projected',
    'pull',
    'volume',
  ])
})

test('the Secrets of all pods of the node are listed once, with their namespaces', async () => {
  const requests: string[] = []
  const server = await serve(({ query }) => {
    requests.push(query.get('fieldSelector') ?? '')
    const buildPod = (namespace: string, name: string) => ({
      metadata: { namespace, name },
      spec: { imagePullSecrets: [{ name: 'pull' }] },
    })
    return {
      json: { metadata: {}, items: [buildPod('shop', 'a'), buildPod('shop', 'b'), buildPod('x', 'c')] },
    }
  })
  const found = await listExposedSecrets(createClient([server.url]), 'w1', AbortSignal.timeout(5000))
  expect(found).toEqual(['shop/pull', 'x/pull'])
  expect(requests.at(-1)).toBe('spec.nodeName=w1')
})
