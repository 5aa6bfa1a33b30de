import type { ManagerSettings } from '../../contract/manager-settings.ts'
import { monotonicClock } from '../../kit/monotonic-clock.ts'
import { pollUntil } from '../../kit/poll.ts'
import { type HttpsTestServer, startHttpsTestServer } from '../../kit/testing/https-test-server.ts'
import type { TestCa } from '../../kit/testing/test-ca.ts'
import { defaultElectionTiming, type ElectionResult, type ElectionTiming } from '../../kube/election.ts'
import { CompletedConfig, type ManagerConfig } from '../config.ts'
import type { ControllerDefinition } from '../controller.ts'
import { buildManagerRbac } from '../rbac.ts'
import { type ManagerDeps, runManager } from '../run-manager.ts'
import { controllers } from '../table.ts'
import { FakeAuthorizer } from './fake-authorizer.ts'
import { FakeManagerCluster } from './fake-cluster.ts'

/**
 * Default timing with a short retry interval. The lease is not shortened, because managers would lose it when
 * the test machine is busy.
 */
const quickRetry: ElectionTiming = { ...defaultElectionTiming, retry: 100 }

export type ManagerClocks = Pick<ManagerDeps, 'time' | 'now'>

export interface ManagerBenchOptions extends Partial<ManagerClocks> {
  readonly settings?: ManagerSettings
}

/** A manager that runs in the test process. */
export class RunningManager implements AsyncDisposable {
  readonly lines: string[] = []
  readonly stop = new AbortController()
  readonly listening: Promise<number>
  readonly result: Promise<ElectionResult>

  constructor(config: CompletedConfig, clocks: ManagerClocks) {
    const port = Promise.withResolvers<number>()
    this.listening = port.promise
    this.result = runManager(
      config,
      {
        ...{ ...clocks, random: Math.random, onListening: port.resolve },
        log: (line) => this.lines.push(line),
      },
      this.stop.signal,
    )
    this.result.catch(port.reject)
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://127.0.0.1:${await this.listening}${path}`)
    return { status: response.status, text: await response.text() }
  }

  /** Resolves when the controllers have finished all queued work. */
  async idle(): Promise<void> {
    const isIdle = async (): Promise<boolean> => {
      const { text } = await this.get('/metrics')
      const sum = (name: string): number =>
        [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
          (all, [, one]) => all + Number(one),
          0,
        )
      return sum('workqueue_adds_total') === sum('workqueue_work_duration_seconds_count')
    }
    await pollUntil('controllers to be idle', isIdle, { timeoutMs: 60_000, intervalMs: 5 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort()
    await this.result.catch(() => undefined)
  }
}

export interface ManagerBench extends AsyncDisposable {
  readonly cluster: FakeManagerCluster
  readonly authorizer: FakeAuthorizer
  readonly start: (identity: string, election?: ElectionTiming) => Promise<RunningManager>
}

/** Creates a fake cluster that allows only what the given controllers declare, and starts managers for it. */
export async function createManagerBench(
  ca: TestCa,
  definitions: readonly ControllerDefinition[] = controllers,
  { settings, time = monotonicClock, now = () => new Date() }: ManagerBenchOptions = {},
): Promise<ManagerBench> {
  const authorizer = new FakeAuthorizer(buildManagerRbac(definitions))
  const cluster = new FakeManagerCluster(authorizer)
  const server: HttpsTestServer = await startHttpsTestServer(ca, cluster.respond)
  const stack = new AsyncDisposableStack()
  stack.use(server)
  const data = (text: string): string => Buffer.from(text).toString('base64')
  const kubeconfig = JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [
      {
        name: 'x',
        cluster: { server: server.url, 'certificate-authority-data': data(ca.certificate) },
      },
    ],
    users: [
      {
        name: 'x',
        user: {
          'client-certificate-data': data(ca.client.certificate),
          'client-key-data': data(ca.client.privateKey),
        },
      },
    ],
  })
  return {
    cluster,
    authorizer,
    async start(identity, election = quickRetry) {
      const config: ManagerConfig = {
        kubeconfig: 'k',
        settings: settings === undefined ? undefined : 's',
        controllers: definitions,
        listen: { host: '127.0.0.1', port: 0 },
        election,
      }
      const completed = await CompletedConfig.complete(config, {
        readFile: async (file) => (file === 's' ? JSON.stringify(settings) : kubeconfig),
        machine: identity,
        uuid: () => '1',
      })
      return stack.use(new RunningManager(completed, { time, now }))
    },
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  }
}

export async function waitUntil(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  await pollUntil(what, async () => check(), { timeoutMs: 10_000, intervalMs: 10 })
}
