import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TestCa } from '../../kit/testing/test-ca.ts'
import type { HttpsTestServer } from '../../kit/testing/https-test-server.ts'
import type { ApplyAddonOptions } from '../apply-addon.ts'
import { FakeAddonApi } from './fake-addon-api.ts'

export interface AddonTestBench {
  readonly api: FakeAddonApi
  readonly server: HttpsTestServer
  readonly client: KubeClient
  /** Reported objects that a run waited for. */
  readonly reported: string[]
  /** Options with short intervals. */
  readonly options: ApplyAddonOptions
}

/** Creates an in-memory API and a client for it. Both are closed after each test. */
export function createAddonTestBench(ca: () => TestCa): () => Promise<AddonTestBench> {
  const { serve, createClient } = createKubeTestBench(ca)
  return async () => {
    const api = new FakeAddonApi()
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
