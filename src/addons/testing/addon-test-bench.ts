import { FakeKubeApi } from '../../kube/testing/fake-kube-api.ts'
import { type JsonFields, parseJsonFields } from '../../kube/testing/field-set.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TestCa } from '../../kit/testing/test-ca.ts'
import type { HttpsTestServer } from '../../kit/testing/https-test-server.ts'
import type { ApplyAddonOptions } from '../apply-addon.ts'

export interface AddonTestBench {
  readonly api: FakeKubeApi
  readonly server: HttpsTestServer
  readonly client: KubeClient
  /** Descriptions of the objects that a run waited for. */
  readonly reported: string[]
  /** Options with short intervals. */
  readonly options: ApplyAddonOptions
}

/** Creates an in-memory API and a client for it. Both are closed after each test. */
export function createAddonTestBench(ca: () => TestCa): () => Promise<AddonTestBench> {
  const { serve, createClient } = createKubeTestBench(ca)
  return async () => {
    const api = createAddonApi()
    const server = await serve(api.respond)
    const reported: string[] = []
    const options: ApplyAddonOptions = {
      others: [],
      emit: (event) => void reported.push(event.for),
      now: () => new Date(),
      deadline: Date.now() + 10_000,
      signal: new AbortController().signal,
      intervalMs: 2,
    }
    return { api, server, client: createClient([server.url]), reported, options }
  }
}

/** Creates a fake API with the namespaces of a new cluster. Its objects are ready as soon as they exist. */
export function createAddonApi(): FakeKubeApi {
  const api = new FakeKubeApi({ namespaces: ['kube-system', 'default'] })
  api.status = buildReadyStatus
  return api
}

/** Builds the status that an object has once its controllers have finished. */
function buildReadyStatus(object: JsonFields): JsonFields | undefined {
  const { generation } = parseJsonFields(object['metadata'])
  const spec = parseJsonFields(object['spec'] ?? {})
  const replicas = Number(spec['replicas'] ?? 1)
  switch (object['kind']) {
    case 'Namespace':
      return { phase: 'Active' }
    case 'CustomResourceDefinition':
      return { conditions: [{ type: 'Established', status: 'True' }] }
    case 'Deployment':
      return {
        observedGeneration: generation,
        replicas,
        updatedReplicas: replicas,
        availableReplicas: replicas,
      }
    default:
      return undefined
  }
}
