import { afterEach } from 'vitest'
import { KubeClient, type KubeClientOptions } from '../client.ts'
import type { TestCa } from '../../kit/testing/test-ca.ts'
import {
  type ReceivedRequest,
  type TestResponse,
  type HttpsTestServer,
  startHttpsTestServer,
} from '../../kit/testing/https-test-server.ts'

export interface KubeTestBench {
  readonly serve: (
    respond: (request: ReceivedRequest) => TestResponse,
    port?: number,
    serverCa?: TestCa,
  ) => Promise<HttpsTestServer>
  /** Starts a server that sends these responses in turn and then repeats the last one. */
  readonly serveResponses: (...responses: [TestResponse, ...TestResponse[]]) => Promise<HttpsTestServer>
  /** Creates a client with short timeouts. */
  readonly createClient: (servers: readonly string[], options?: Partial<KubeClientOptions>) => KubeClient
}

/** Creates servers and clients for tests, and disposes of them after each test. */
export function createKubeTestBench(ca: () => TestCa): KubeTestBench {
  let stack = new AsyncDisposableStack()
  afterEach(async () => {
    const used = stack
    stack = new AsyncDisposableStack()
    await used.disposeAsync()
  })
  const serve: KubeTestBench['serve'] = async (respond, port = 0, serverCa = ca()) =>
    stack.use(await startHttpsTestServer(serverCa, respond, port))
  return {
    serve,
    serveResponses: async (...responses) =>
      serve(() => (responses.length > 1 ? responses.shift() : responses[0]) ?? { silent: true }),
    createClient: (servers, options = {}) =>
      stack.use(
        new KubeClient({
          servers,
          ca: ca().certificate,
          credentials: ca().client,
          signal: new AbortController().signal,
          random: () => 0,
          ...options,
          timing: { backoff: { initial: 2, max: 10 }, timeout: 5000, ...options.timing },
        }),
      ),
  }
}
