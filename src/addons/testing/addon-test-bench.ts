import { testBench } from '../../kube/testing/kube-test-bench.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TestAuthority } from '../../kit/testing/test-ca.ts'
import type { TestServer } from '../../kit/testing/https-test-server.ts'
import type { PutOptions } from '../apply-addon.ts'
import { TestApi } from './fake-addon-api.ts'

export interface Scene {
  readonly api: TestApi
  readonly server: TestServer
  readonly client: KubeClient
  /** What was waited for. */
  readonly told: string[]
  /** For whoever does not want to wait long. */
  readonly options: PutOptions
}

/** An API in memory, and a client of it, gone after each test. */
export function testScene(authority: () => TestAuthority): () => Promise<Scene> {
  const { serve, clientOf } = testBench(authority)
  return async () => {
    const api = new TestApi()
    const server = await serve(api.answer)
    const told: string[] = []
    const options: PutOptions = {
      others: [],
      tell: (what) => void told.push(what.for),
      now: () => new Date(),
      deadline: Date.now() + 10_000,
      signal: new AbortController().signal,
      every: 2,
    }
    return { api, server, client: clientOf([server.url]), told, options }
  }
}
