import { afterEach } from 'vitest'
import { KubeClient, type KubeClientOptions } from '../client.ts'
import type { TestAuthority } from '../../kit/testing/test-ca.ts'
import {
  type Asked,
  type TestAnswer,
  type TestServer,
  testServer,
} from '../../kit/testing/https-test-server.ts'

export interface TestBench {
  readonly serve: (
    answer: (asked: Asked) => TestAnswer,
    port?: number,
    by?: TestAuthority,
  ) => Promise<TestServer>
  /** A server that gives these answers, one after the other; the last one for ever. */
  readonly serverOf: (...answers: [TestAnswer, ...TestAnswer[]]) => Promise<TestServer>
  /** A client that does not wait long. */
  readonly clientOf: (servers: readonly string[], options?: Partial<KubeClientOptions>) => KubeClient
}

/** Servers and clients that are gone after each test. */
export function testBench(authority: () => TestAuthority): TestBench {
  let stack = new AsyncDisposableStack()
  afterEach(async () => {
    const used = stack
    stack = new AsyncDisposableStack()
    await used.disposeAsync()
  })
  const serve: TestBench['serve'] = async (answer, port = 0, by = authority()) =>
    stack.use(await testServer(by, answer, port))
  return {
    serve,
    serverOf: async (...answers) =>
      serve(() => (answers.length > 1 ? answers.shift() : answers[0]) ?? { silent: true }),
    clientOf: (servers, options = {}) =>
      stack.use(
        new KubeClient({
          servers,
          authority: authority().certificate,
          credentials: authority().client,
          signal: new AbortController().signal,
          random: () => 0,
          ...options,
          timing: { backoff: { first: 2, most: 10 }, timeout: 5000, ...options.timing },
        }),
      ),
  }
}
