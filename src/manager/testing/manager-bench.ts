import type { ManagerSettings } from '../../contract/manager-settings.ts'
import type { TestAuthority } from '../../kit/testing/test-ca.ts'
import { type TestServer, testServer } from '../../kit/testing/https-test-server.ts'
import { realTime } from '../../kit/monotonic-clock.ts'
import { until } from '../../kit/poll-until.ts'
import { type ElectionTiming, type Ending, usualElection } from '../../kube/election.ts'
import { CompletedConfig } from '../completed-config.ts'
import type { ManagerConfig } from '../config.ts'
import type { ControllerRow } from '../controller.ts'
import { managerObjects } from '../rbac.ts'
import { type ManagerWorld, runManager } from '../run-manager.ts'
import { controllers } from '../table.ts'
import { TestAuthorizer } from './fake-authorizer.ts'
import { TestCluster } from './fake-cluster.ts'

/** As usual, so that a busy machine loses no lease; only nobody waits long for the next try. */
const patient: ElectionTiming = { ...usualElection, retry: 100 }

export type Clocks = Pick<ManagerWorld, 'time' | 'now'>

export interface StageOptions extends Partial<Clocks> {
  readonly settings?: ManagerSettings
}

/** A manager that runs. */
export class Running implements AsyncDisposable {
  readonly lines: string[] = []
  readonly stop = new AbortController()
  readonly listening: Promise<number>
  readonly ending: Promise<Ending>

  constructor(config: CompletedConfig, clocks: Clocks) {
    const port = Promise.withResolvers<number>()
    this.listening = port.promise
    this.ending = runManager(
      config,
      {
        ...{ ...clocks, random: Math.random, onListening: port.resolve },
        log: (line) => this.lines.push(line),
      },
      this.stop.signal,
    )
    this.ending.catch(port.reject)
  }

  async ask(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://127.0.0.1:${await this.listening}${path}`)
    return { status: response.status, text: await response.text() }
  }

  /** When its controllers have done all that they know of. */
  async idle(): Promise<void> {
    const isIdle = async (): Promise<boolean> => {
      const { text } = await this.ask('/metrics')
      const sum = (name: string): number =>
        [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
          (all, [, one]) => all + Number(one),
          0,
        )
      return sum('workqueue_adds_total') === sum('workqueue_work_duration_seconds_count')
    }
    await until('controllers to be idle', isIdle, { within: 60_000, every: 5 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort()
    await this.ending.catch(() => undefined)
  }
}

export interface Stage extends AsyncDisposable {
  readonly cluster: TestCluster
  readonly authorizer: TestAuthorizer
  readonly start: (identity: string, election?: ElectionTiming) => Promise<Running>
}

/** A cluster in which nobody may do what these rows do not say, and managers for it. */
export async function stage(
  authority: TestAuthority,
  rows: readonly ControllerRow[] = controllers,
  { settings, time = realTime, now = () => new Date() }: StageOptions = {},
): Promise<Stage> {
  const authorizer = new TestAuthorizer(managerObjects(rows))
  const cluster = new TestCluster(authorizer)
  const server: TestServer = await testServer(authority, cluster.answer)
  const stack = new AsyncDisposableStack()
  stack.use(server)
  const data = (text: string): string => Buffer.from(text).toString('base64')
  const kubeconfig = JSON.stringify({
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [
      {
        name: 'x',
        cluster: { server: server.url, 'certificate-authority-data': data(authority.certificate) },
      },
    ],
    users: [
      {
        name: 'x',
        user: {
          'client-certificate-data': data(authority.client.certificate),
          'client-key-data': data(authority.client.privateKey),
        },
      },
    ],
  })
  return {
    cluster,
    authorizer,
    async start(identity, election = patient) {
      const config: ManagerConfig = {
        kubeconfig: 'k',
        settings: settings === undefined ? undefined : 's',
        chosen: rows,
        listen: { host: '127.0.0.1', port: 0 },
        election,
      }
      const completed = await CompletedConfig.complete(config, {
        readFile: async (file) => (file === 's' ? JSON.stringify(settings) : kubeconfig),
        machine: identity,
        uuid: () => '1',
      })
      return stack.use(new Running(completed, { time, now }))
    },
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  }
}

export async function soon(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  await until(what, async () => look(), { within: 10_000, every: 10 })
}
