import { createServer, type Server, type Socket } from 'node:net'
import { until } from '../../kit/poll-until.ts'
import { parseAddress } from '../address.ts'
import { FakeApiServer } from './fake-api-server.ts'
import { Proxy } from '../proxy.ts'
import type { Settings } from '../settings.ts'
import type { TestAuthority } from './openssl-test-ca.ts'
import { TestClient } from './proxy-test-client.ts'
import type { Timing } from '../timing.ts'

/** Some ten times faster than usual; but a busy machine may take its time to answer. */
export const quickTiming: Timing = {
  tick: 10,
  askEvery: 100,
  askWithin: 3000,
  hurryEvery: 50,
  hurryWithin: 3000,
  settle: 300,
  calm: 60,
  spread: 100,
  unreadyGrace: 30_000,
  dialWithin: 3000,
  doubtAfter: 100,
  learnEvery: 100,
  reloadEvery: 50,
  stopWithin: 30_000,
  stopCalm: 60,
}

/** Servers, proxies and clients on this machine's own ports, and all of them gone in the end. For tests. */
export class TestBed {
  readonly logged: string[] = []
  readonly world = {
    timing: quickTiming,
    random: () => 0,
    log: (line: string): void => void this.logged.push(line),
  }
  readonly #authority: TestAuthority
  readonly #clients: TestClient[] = []
  readonly #closers: (() => Promise<unknown>)[] = []

  constructor(authority: TestAuthority) {
    this.#authority = authority
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) await close()
  }

  onClose(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** With `name`, where another one was; with `authority`, of another cluster. */
  async apiServer(name?: string, authority = this.#authority): Promise<FakeApiServer> {
    const server = await FakeApiServer.start(authority, name)
    this.onClose(async () => server.close())
    return server
  }

  /** A server without TLS. */
  async plainServer(take: (socket: Socket) => void): Promise<string> {
    const open = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      take(socket)
    })
    const name = await listening(server)
    this.onClose(async () => {
      for (const socket of open) socket.destroy()
      await closed(server)
    })
    return name
  }

  settings(servers: readonly string[], more: Partial<Settings['configuration']> = {}): Settings {
    return {
      configuration: {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'ApiserverProxyConfiguration',
        listen: '127.0.0.1:0',
        health: '127.0.0.1:0',
        servers,
        authority: 'ca.crt',
        credentials: { certificate: 'client.crt', privateKey: 'client.key' },
        memory: 'servers.json',
        ...more,
      },
      authority: this.#authority.certificate,
      credentials: this.#authority.client,
    }
  }

  async proxy(settings: Settings, timing: Partial<Timing> = {}): Promise<Proxy> {
    const proxy = new Proxy(settings, [], { ...this.world, timing: { ...quickTiming, ...timing } })
    await proxy.start()
    this.onClose(async () => {
      // What a test has left under way need not end.
      for (const client of this.#clients) client.close()
      await proxy.stop()
    })
    return proxy
  }

  /** One that takes a new connection for each request, or with `reuse` always the same. */
  client(port: number | undefined, reuse = false): TestClient {
    const client = new TestClient(this.#authority, port ?? 0, reuse)
    this.#clients.push(client)
    return client
  }
}

/** Waits until the proxy thinks so of its servers. */
export async function health(proxy: Proxy, expected: Readonly<Record<string, string>>): Promise<void> {
  const seen = async (): Promise<boolean> => {
    const now = new Map(proxy.status().servers.map((one) => [one.server, one.health as string]))
    return Object.entries(expected).every(([server, wanted]) => now.get(server) === wanted)
  }
  await until(`health ${JSON.stringify(expected)}`, seen, { within: 20_000, every: 5 })
}

/** A port that nobody has. */
export async function freePort(): Promise<string> {
  const server = createServer()
  const name = await listening(server)
  await closed(server)
  return name
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(parseAddress('127.0.0.1:0'), resolve))
  const address = server.address()
  return `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve))
}
